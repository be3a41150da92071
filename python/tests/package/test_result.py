"""The result of OPTIMIZE, and what a DRY RUN foresees, on every Spark."""

import dataclasses
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from golden import snapshot
from pyspark.sql import DataFrame, Row, SparkSession

from spark_zorder import OptimizeResult, RestoreResult, SkippingExplanation, VacuumResult, ZOrderTable, explain_skipping

pytestmark = pytest.mark.older_sparks

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


RESULTS: dict[type, Callable[[ZOrderTable], Any]] = {
    OptimizeResult: lambda t: t.optimize(["a"], num_files=8),
    RestoreResult: lambda t: t.restore(0),
    VacuumResult: lambda t: t.vacuum(0, dry_run=True),
    SkippingExplanation: lambda t: explain_skipping(f"SELECT * FROM {t.target} WHERE a = 7"),
}


@pytest.mark.test_rest
@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_is_plain_data_beside_its_data_frame(spark: SparkSession, tmp_path: Path, kind: type) -> None:
    table = make(spark, tmp_path / "t")
    result = RESULTS[kind](table)
    assert type(result).__name__ == kind.__name__
    assert dataclasses.is_dataclass(kind)
    assert not isinstance(result, DataFrame)
    assert not hasattr(kind, "__getattr__")
    # The methods of a DataFrame are those of `df` alone.
    assert not hasattr(result, "select")
    assert not hasattr(result, "collect")
    assert isinstance(result.df, DataFrame)
    assert result.df.count() == len(result.df.collect())
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.df = None
    assert result == dataclasses.replace(result)
    assert hash(result) == hash(dataclasses.replace(result))
    assert repr(result).replace("\n", " ") == result.summary.replace("\n", " ")
    assert result._repr_html_().startswith("<")


@pytest.mark.test_rest
def test_the_data_frame_of_a_result_is_that_of_the_statement(spark: SparkSession, tmp_path: Path) -> None:
    result = make(spark, tmp_path / "t").optimize(["a"], num_files=8)
    assert result.df.columns == ["path", "metrics", "summary"]
    assert result.df.select("metrics.version").first() == Row(version=1)
    assert result.df.first() == Row(path=result.path, metrics=result.metrics, summary=result.summary)


def test_statements_on_the_index_return_nothing(spark: SparkSession, tmp_path: Path) -> None:
    table: Any = make(spark, tmp_path / "t")
    assert table.create_skipping_index("a") is None
    assert table.refresh_skipping_index() is None
    assert table.drop_skipping_index() is None


def test_it_reads_as_sentences(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path / "t")
    result = table.optimize(["a", "b"], num_files=16)
    lines = repr(result).splitlines()
    assert lines[0].startswith("8 → 16 files, ")
    assert [line.split(" reads")[0] for line in lines[1:3]] == ["A lookup on `a`", "A lookup on `b`"]
    assert lines[3].startswith("Retired files take ")
    assert str(result) == "\n".join(lines)
    assert " ".join(lines) == result.summary
    assert repr(table.optimize()) == "Nothing to do: 16 files, all as they should be."
    packed = table.optimize(full=True, num_files=1)
    assert "One file is left, so nothing can be skipped." in packed.summary


@pytest.mark.test_rest
def test_its_fields(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    result = make(spark, folder).optimize(["a", "b"], num_files=16)
    assert (result.files_removed, result.files_added, result.version, result.dry_run) == (8, 16, 1, False)
    assert result.bytes_added == sum(f.stat().st_size for f in folder.glob("*.parquet"))
    assert result.bytes_removed == result.metrics.filesRemoved.totalSize
    assert list(result.mean_files) == ["a", "b"]
    assert result.seconds is not None
    assert 0 < result.seconds < 600
    assert result.path.endswith(str(folder))
    told = json.loads(result.to_json())
    assert told["metrics"]["numFilesAdded"] == 16
    assert told["summary"] == result.summary


@pytest.mark.test_rest
def test_notebooks_show_a_table(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path / "t")
    html = table.optimize(["a"], num_files=8)._repr_html_()
    assert "<td>a</td>" in html
    assert "8 → 8 files" in html
    assert html.endswith("</table>")
    assert table.optimize()._repr_html_() == "<p>Nothing to do: 8 files, all as they should be.</p>"


def test_a_name_with_dots_and_blanks_is_one_sentence(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    spark.range(100).selectExpr("id", "id AS `a. b <c>`").repartition(4).write.parquet(str(folder))
    result = ZOrderTable.for_path(spark, folder, "parquet").optimize(["`a. b <c>`"], num_files=2)
    assert len(repr(result).splitlines()) == 3
    assert "a. b &lt;c&gt;" in result._repr_html_()


@pytest.mark.test_rest
def test_a_restore_and_a_vacuum_say_what_they_did(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path / "t")
    table.optimize(["a"], num_files=1)
    restored = table.restore(0)
    assert re.fullmatch(
        r"8 files came back, and 1 file was removed\. The table has 8 files of \d+\.\d KiB\.", restored.summary
    )
    assert restored.bytes == restored.bytes_restored == sum(f.stat().st_size for f in tmp_path.glob("t/*.parquet"))
    assert restored.metrics == restored.df.first()
    foreseen = table.vacuum(0, dry_run=True)
    assert foreseen.dry_run
    assert str(foreseen) == f"{len(foreseen.files)} file would be deleted. Nothing was changed."
    sizes = [Path(path.removeprefix("file:")).stat().st_size for path in foreseen.files]
    assert sizes == [row.bytes for row in foreseen.df.collect()]
    done = table.vacuum(0)
    assert (done.files, done.dry_run) == ((), False)
    assert str(done) == f"{len(foreseen.files)} file was deleted."
    assert [tuple(row) for row in done.df.collect()] == [("file:" + str(tmp_path / "t"), 1, sum(sizes))]
    # Nothing is left, as in a table that was never optimized.
    assert [str(t.vacuum(0)) for t in (table, make(spark, tmp_path / "new"))] == ["There was nothing to delete."] * 2
    assert not (tmp_path / "new" / "_zorder").exists()
    assert not any(Path(path.removeprefix("file:")).exists() for path in foreseen.files)


@pytest.mark.test_rest
def test_an_explanation_has_a_scan_for_each_table(spark: SparkSession, tmp_path: Path) -> None:
    table = make(spark, tmp_path / "t")
    table.optimize(["a", "s"], num_files=16)
    explained = explain_skipping(f"SELECT * FROM {table.target} WHERE a = 7 AND length(s) = 6")
    [scan] = explained.scans
    row = explained.df.collect()[0]
    assert (scan.scan, scan.relation, scan.pruning_ms) == (row.scan, row.relation, row.pruning_ms)
    assert [dataclasses.astuple(c) for c in scan.conditions] == [tuple(c) for c in row.conjuncts]
    assert explained.files_kept == scan.files_kept == row.files_kept
    assert explained.files_total == scan.files_total == 16
    assert (explained.bytes_kept, explained.bytes_total) == (row.bytes_kept, row.bytes_total)
    assert f"<td>{scan.files_kept} of 16</td>" in explained._repr_html_()
    both = explain_skipping(f"SELECT * FROM {table.target} UNION ALL SELECT * FROM {table.target} WHERE a = 7")
    assert [s.scan for s in both.scans] == [0, 1]
    assert both.files_total == 32
    assert explain_skipping("SELECT 1").scans == ()
    assert explain_skipping("SELECT 1").files_kept == 0


@pytest.mark.test_rest
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
    assert foreseen.summary.startswith("Would rewrite 8 → ")
    assert foreseen.summary.endswith("Nothing was changed.")
    real = table.optimize(columns, options=options)
    assert foreseen.files_added == real.files_added
    assert foreseen.bytes_removed == real.bytes_removed
    assert foreseen.metrics.strategy == real.metrics.strategy
    for column, files in real.mean_files.items():
        assert foreseen.mean_files[column] == pytest.approx(files, rel=0.1), column
    for c, d in zip(foreseen.metrics.clustering, real.metrics.clustering, strict=True):
        assert (c.meanFilesBefore, c.boundFiles) == (d.meanFilesBefore, d.boundFiles)


def test_a_file_of_one_row_has_no_halves(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(6).repartition(2).write.parquet(str(tmp_path / "t"))
    summary = ZOrderTable.for_path(spark, tmp_path / "t").optimize(["id"], num_files=6, dry_run=True).summary
    assert "would read about 1 of 6 files" in summary
    assert "half" not in summary


@pytest.mark.test_rest
@pytest.mark.parametrize("columns", [["a"], ["a", "b"], ["s", "near_a"]])
def test_a_dry_run_says_what_half_the_size_would_bring(spark: SparkSession, tmp_path: Path, columns: list[str]) -> None:
    table = make(spark, tmp_path / "t")
    foreseen = table.optimize(columns, num_files=16, dry_run=True).summary
    sentence = r"`(\w+)` would read about ([\d.]+) of .*?, with files of half the size: ([\d.]+) of (\d+)"
    found = re.findall(sentence, foreseen)
    assert [name for name, *_ in found] == columns
    real = table.optimize(columns, num_files=32).metrics.clustering
    for column, (_, _, half, files) in zip(real, found, strict=True):
        assert float(half) == pytest.approx(column["meanFilesAfter"], rel=0.35)
        assert int(files) == pytest.approx(32, rel=0.3)
    # A lookup reads files of half the size, and less than twice as many.
    assert sum(float(half) for *_, half, _ in found) < 2 * sum(float(whole) for _, whole, *_ in found)


@pytest.mark.test_rest
def test_a_dry_run_foresees_the_time_by_the_table_s_own_history(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(2_500_000).selectExpr("hash(id) a", "xxhash64(id) b")
    rows.repartition(4).write.parquet(str(tmp_path / "t"))
    table = ZOrderTable.for_path(spark, tmp_path / "t")
    assert table.optimize(["a"], num_files=4, dry_run=True).seconds is None
    table.optimize(["a"], num_files=4)
    newest = table.history(1).first()
    assert newest is not None
    metrics = newest["operationMetrics"]
    foreseen = table.optimize(["b"], num_files=4, dry_run=True)
    rate = int(metrics["numRemovedBytes"]) / int(metrics["rewriteMillis"])
    assert foreseen.seconds == pytest.approx(1 + foreseen.bytes_removed / rate / 1000, abs=0.01)
