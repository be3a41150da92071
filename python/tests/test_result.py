"""The result of OPTIMIZE, and what a DRY RUN foresees, on every Spark."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import DataFrame, Row
from pyspark_test import assert_pyspark_df_equal

from spark_zorder import OptimizeResult, ZOrderTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.every_spark

ROWS = 20_000


def make(spark: SparkSession, folder: Path, file_format: str = "parquet", partitions: int = 1) -> ZOrderTable:
    """A folder of eight files a partition, with columns of several shapes."""
    rows = spark.range(ROWS).selectExpr(
        "id",
        "pmod(hash(id), 1000) AS a",
        "IF(id % 20 = 0, NULL, pmod(hash(id, 1), 997)) AS b",
        "format_string('k%05d', CAST(pow(pmod(hash(id, 2), 300), 2) AS INT)) AS s",
        "CAST(pmod(hash(id), 1000) + pmod(hash(id, 3), 100) AS DOUBLE) AS near_a",
        f"id % {partitions} AS p",
    )
    writer = rows.repartition(8).write.format(file_format)
    (writer.partitionBy("p") if partitions > 1 else writer).save(str(folder))
    return ZOrderTable.for_path(spark, folder, file_format)


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """All files and folders, with sizes and times."""
    return {str(path.relative_to(folder)): (path.stat().st_size, path.stat().st_mtime_ns) for path in folder.rglob("*")}


def test_it_works_as_the_data_frame_of_the_statement(spark: SparkSession, tmp_path: Path) -> None:
    result = make(spark, tmp_path / "t").optimize(["a"], options={"num-files": 8})
    assert isinstance(result, DataFrame)
    assert result.columns == ["path", "metrics", "summary"]
    assert result.first() == result.collect()[0] == result.df.first()
    assert result.select("metrics.version").first() == Row(version=1)
    assert spark.createDataFrame(["x"], "string").crossJoin(result.select("path")).count() == 1
    assert_pyspark_df_equal(result.union(result.df), result.df.union(result))
    assert result["summary"] is not None
    # No method of ours hides one of a DataFrame.
    assert not {n for n in vars(OptimizeResult) if not n.startswith("_")} & set(dir(DataFrame))


def test_it_reads_as_sentences(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path / "t")
    result = table.optimize(["a", "b"], options={"num-files": 16})
    lines = repr(result).splitlines()
    assert lines[0].startswith("8 → 16 files, ")
    assert [line.split(" reads")[0] for line in lines[1:3]] == ["A lookup on `a`", "A lookup on `b`"]
    assert lines[3].startswith("Retired files take ")
    assert str(result) == "\n".join(lines)
    assert " ".join(lines) == result.text
    assert repr(table.optimize()) == "Nothing to do: 16 files, all as they should be."
    packed = table.optimize(full=True, options={"num-files": 1})
    assert "One file is left, so nothing can be skipped." in packed.text


def test_its_fields(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    result = make(spark, folder).optimize(["a", "b"], options={"num-files": 16})
    assert (result.files_removed, result.files_added, result.version, result.dry_run) == (8, 16, 1, False)
    assert result.bytes_added == sum(f.stat().st_size for f in folder.glob("*.parquet"))
    assert result.bytes_removed == result.metrics.filesRemoved.totalSize
    assert list(result.mean_files) == ["a", "b"]
    assert result.seconds is not None
    assert 0 < result.seconds < 600
    assert result.path.endswith(str(folder))
    told = json.loads(result.to_json())
    assert told["metrics"]["numFilesAdded"] == 16
    assert told["summary"] == result.text


def test_notebooks_show_a_table(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path / "t")
    html = table.optimize(["a"], options={"num-files": 8})._repr_html_()
    assert "<td>a</td>" in html
    assert "8 → 8 files" in html
    assert html.endswith("</table>")
    assert table.optimize()._repr_html_() == "<p>Nothing to do: 8 files, all as they should be.</p>"


def test_a_name_with_dots_and_blanks_is_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    spark.range(100).selectExpr("id", "id AS `a. b <c>`").repartition(4).write.parquet(str(folder))
    result = ZOrderTable.for_path(spark, folder, "parquet").optimize(["`a. b <c>`"], options={"num-files": 2})
    assert len(repr(result).splitlines()) == 3
    assert "a. b &lt;c&gt;" in result._repr_html_()


def test_copies_and_pickles_do_not_recurse() -> None:
    hollow = OptimizeResult.__new__(OptimizeResult)
    with pytest.raises(AttributeError):
        hollow.columns  # noqa: B018
    with pytest.raises(AttributeError):
        copy.copy(hollow).columns  # noqa: B018


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize(
    ("columns", "options"),
    [
        (["a", "b"], {"num-files": 32}),
        (["a", "near_a", "s"], {"num-files": 32}),
        (["s", "b"], {"target-file-size-bytes": "20KB", "cuts": "equal"}),
        (["a", "s"], {"num-files": 16, "mapping": "bytes"}),
    ],
)
def test_a_dry_run_changes_nothing_and_foresees_the_files(
    spark: SparkSession, tmp_path: Path, file_format: str, columns: list[str], options: dict[str, object]
) -> None:
    folder = tmp_path / "t"
    table = make(spark, folder, file_format)
    before = snapshot(folder)
    foreseen = table.optimize(columns, options=options, dry_run=True)
    assert foreseen.dry_run
    assert snapshot(folder) == before
    assert foreseen.text.startswith("Would rewrite 8 → ")
    assert foreseen.text.endswith("Nothing was changed.")
    real = table.optimize(columns, options=options)
    assert foreseen.files_added == real.files_added
    assert foreseen.bytes_removed == real.bytes_removed
    assert foreseen.metrics.strategy == real.metrics.strategy
    for column, files in real.mean_files.items():
        assert foreseen.mean_files[column] == pytest.approx(files, rel=0.1), column
    for c, d in zip(foreseen.metrics.clustering, real.metrics.clustering, strict=True):
        assert (c.meanFilesBefore, c.boundFiles) == (d.meanFilesBefore, d.boundFiles)


def test_a_dry_run_of_partitions_and_of_new_rows(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    table = make(spark, folder, partitions=3)
    foreseen = table.optimize(["a", "b"], where="p > 0", options={"num-files": 20}, dry_run=True)
    real = table.optimize(["a", "b"], where="p > 0", options={"num-files": 20})
    assert (foreseen.files_added, foreseen.metrics.partitionsOptimized) == (real.files_added, 2)
    more = "id + 100000 AS id, a, b, s, near_a, p"
    spark.read.parquet(str(folder)).where("p = 1").limit(200).selectExpr(*more.split(", ")).coalesce(1).write.mode(
        "append"
    ).partitionBy("p").parquet(str(folder))
    foreseen, real = table.optimize(where="p > 0", dry_run=True), table.optimize(where="p > 0")
    assert foreseen.metrics.strategy.name == real.metrics.strategy.name == "incremental"
    assert (foreseen.files_removed, foreseen.files_added) == (real.files_removed, real.files_added)
    for column, files in real.mean_files.items():
        assert foreseen.mean_files[column] == pytest.approx(files, rel=0.1)


def test_a_dry_run_knows_a_limit_of_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path / "t")
    spark.conf.set("spark.sql.files.maxRecordsPerFile", "1000")
    try:
        foreseen, real = (table.optimize(["a"], options={"num-files": 8}, dry_run=dry) for dry in (True, False))
    finally:
        spark.conf.unset("spark.sql.files.maxRecordsPerFile")
    assert real.files_added >= 20
    assert foreseen.files_added == pytest.approx(real.files_added, rel=0.1)


def test_a_dry_run_by_history_foresees_the_time(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path / "t")
    foreseen = table.optimize(["a"], options={"num-files": 4}, dry_run=True)
    # A second for the jobs, and the default rate.
    assert foreseen.seconds == pytest.approx(1 + foreseen.bytes_removed / (12 << 20) / 2, rel=0.5)


@pytest.mark.parametrize("statement", ["OPTIMIZE {} ZORDER BY (missing) DRY RUN", "OPTIMIZE {} ZORDER BY (a) DRY"])
def test_a_wrong_dry_run_is_refused(spark: SparkSession, tmp_path: Path, statement: str) -> None:
    make(spark, tmp_path / "t")
    before = snapshot(tmp_path / "t")
    with pytest.raises(Exception, match=r"ZORDER_COLUMN_NOT_FOUND|SYNTAX"):
        spark.sql(statement.format(f"parquet.`{tmp_path / 't'}`"))
    assert snapshot(tmp_path / "t") == before
