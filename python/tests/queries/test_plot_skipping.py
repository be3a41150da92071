"""`explain_skipping(..).files()` and its picture, against the files that a scan reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from spark_zorder import ZOrderTable, explain_skipping

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pyspark.sql import SparkSession

QUERY = "SELECT * FROM t WHERE a = 7 AND id >= 0"


@pytest.fixture
def table(spark: SparkSession, database: Path) -> ZOrderTable:
    """Sixteen files by two columns."""
    rows = spark.range(4096).selectExpr("id", "id DIV 64 AS a", "format_string('k%02d', id % 64) AS s")
    rows.repartition(8, "id").write.saveAsTable("t")
    table = ZOrderTable(spark, "t")
    table.optimize(["a", "s"], options={"num-files": 16, "cuts": "equal"})
    return table


def cells(axes: Axes) -> list[int]:
    """How many cells are skipped and read."""
    return [len(collection.get_paths()) for collection in axes.collections]


def drawn(figure: Figure, folder: Path) -> bytes:
    figure.savefig(folder / "drawn.png")
    return (folder / "drawn.png").read_bytes()


@pytest.mark.test_rest
def test_the_files_are_those_that_hold_a_row(spark: SparkSession, table: ZOrderTable) -> None:
    files = explain_skipping(spark, QUERY).files()
    assert files.columns == ["scan", "target", "columns", "path", "bytes", "kept"]
    rows = files.collect()
    paths = spark.sql("SELECT DISTINCT _metadata.file_path FROM t WHERE a = 7").collect()
    read = {row[0].rsplit("/", 1)[1] for row in paths}
    assert {row.path for row in rows if row.kept} == read
    assert len(read) == 4
    assert len(rows) == 16
    assert {row.scan for row in rows} == {0}
    assert rows[0].columns == ["a", "id"]
    assert spark.sql(f"DESCRIBE SKIPPING INDEX ON {rows[0].target} (a)").count() == 16


@pytest.mark.test_rest
def test_a_picture_of_two_columns(spark: SparkSession, table: ZOrderTable, tmp_path: Path) -> None:
    figure = explain_skipping(spark, QUERY).plot()
    (axes,) = figure.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("a", "s, by rank")
    assert axes.get_title().splitlines()[1] == "The query reads 4 of 16 files (blue)."
    assert cells(axes) == [12, 4]
    assert drawn(figure, tmp_path).startswith(b"\x89PNG")


@pytest.mark.test_rest
def test_a_picture_of_one_column(spark: SparkSession, table: ZOrderTable, tmp_path: Path) -> None:
    figure = explain_skipping(spark.table("t").where("a = 7")).plot("a")
    (axes,) = figure.axes
    assert axes.get_ylabel() == "files, by their values"
    assert cells(axes) == [12, 4]
    assert drawn(figure, tmp_path)


@pytest.mark.test_rest
def test_without_an_index_the_files_are_counted(spark: SparkSession, table: ZOrderTable, tmp_path: Path) -> None:
    table.drop_skipping_index()
    figure = explain_skipping(spark, QUERY).plot()
    assert cells(figure.axes[0]) == [0, 16]
    assert drawn(figure, tmp_path)


@pytest.mark.test_rest
def test_files_that_the_index_does_not_know_are_told(spark: SparkSession, table: ZOrderTable) -> None:
    spark.table("t").limit(1).coalesce(1).write.insertInto("t")
    figure = explain_skipping(spark, QUERY).plot()
    title = figure.axes[0].get_title()
    assert title.endswith("reads 5 of 17 files (blue), 1 of them not drawn: the index does not know them.")


@pytest.mark.test_rest
def test_a_picture_for_each_scan(spark: SparkSession, table: ZOrderTable) -> None:
    explained = explain_skipping(spark, f"{QUERY} UNION ALL SELECT * FROM t WHERE s = 'k03'")
    assert repr(explained).splitlines()[1].endswith(".t: reads 6 of 16 files")
    figure = explained.plot()
    assert [cells(axes) for axes in figure.axes] == [[12, 4], [10, 6]]


def test_a_query_without_files(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="reads no files"):
        explain_skipping(spark, "SELECT 1").plot()
    with pytest.raises(TypeError, match="takes a query in SQL or a DataFrame, or a session and one of them"):
        explain_skipping(cast("Any", spark))
