"""The worked example of the text that introduces Z-order: eight points, four files, and one of them is read."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyarrow import parquet

from spark_zorder import explain_skipping

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.older_sparks, pytest.mark.test_all]

POINTS = [(0, 0, 1), (0, 3, 1), (1, 0, 1), (1, 2, 1), (2, 1, 1), (2, 3, 1), (3, 0, 1), (3, 3, 1)]
ALONG_THE_CURVE = [(0, 0), (1, 0), (3, 0), (2, 1), (1, 2), (0, 3), (2, 3), (3, 3)]
QUESTION = "SELECT sum(z) FROM test WHERE y = 2"


@pytest.fixture
def test(spark: SparkSession, database: Path) -> Path:
    """The folder of the table `test`: the points in the order of (x, y), two in each file."""
    spark.createDataFrame(POINTS, "x INT, y INT, z INT").repartitionByRange(4, "x").sortWithinPartitions(
        "x", "y"
    ).write.saveAsTable("test")
    return database / "test"


def files_and_rows(folder: Path) -> list[list[tuple[int, int]]]:
    """The points of each file, in the order of the files' names."""
    tables = [parquet.read_table(path).to_pylist() for path in sorted(folder.glob("*.parquet"))]
    return [[(row["x"], row["y"]) for row in rows] for rows in tables]


def read(spark: SparkSession) -> tuple[int, int]:
    """The number of files that the query reads, and of all files."""
    [scan] = explain_skipping(spark, QUESTION).df.collect()
    return scan["files_kept"], scan["files_total"]


def test_in_the_order_of_the_columns_every_file_is_read(spark: SparkSession, test: Path) -> None:
    spark.sql("CREATE SKIPPING INDEX ON test")
    assert files_and_rows(test) == [[(x, y) for x, y, _ in POINTS[i : i + 2]] for i in range(0, 8, 2)]
    # The bounds of y are 0..3, 0..2, 1..3 and 0..3.
    assert read(spark) == (4, 4)


def test_along_the_curve_one_file_of_two_rows_is_read(spark: SparkSession, test: Path) -> None:
    spark.sql("OPTIMIZE test ZORDER BY (y, x) OPTIONS ('num-files' = '4')")
    assert files_and_rows(test) == [ALONG_THE_CURVE[i : i + 2] for i in range(0, 8, 2)]
    assert read(spark) == (1, 4)
    assert spark.sql(QUESTION).collect() == [(1,)]
    [kept] = spark.sql("SELECT DISTINCT _metadata.file_name FROM test WHERE y = 2").collect()
    assert [(r["x"], r["y"]) for r in parquet.read_table(test / kept[0]).to_pylist()] == [(1, 2), (0, 3)]


def test_bits_of_the_two_coordinates_take_turns(spark: SparkSession) -> None:
    [row] = spark.sql("SELECT hex(interleave_bits(X'D6', X'61')), conv('1011011000101001', 2, 16)").collect()
    assert tuple(row) == ("B629", "B629")


def test_the_curve_is_the_order_of_the_interleaved_bits(spark: SparkSession) -> None:
    points = spark.createDataFrame(POINTS, "x INT, y INT, z INT")
    address = "interleave_bits(unhex(lpad(hex(y), 2, '0')), unhex(lpad(hex(x), 2, '0')))"
    found = points.selectExpr("x", "y", f"{address} AS address").orderBy("address").select("x", "y").collect()
    assert [tuple(row) for row in found] == ALONG_THE_CURVE
