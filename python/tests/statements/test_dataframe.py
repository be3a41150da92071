"""The functions on DataFrames that put rows in partitions along a curve. Scala tests check each row's position."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import printed
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f

from spark_zorder import repartition_by_hilbert_range, repartition_by_zorder_range

older_sparks = pytest.mark.older_sparks
calls = pytest.mark.parametrize("call", [repartition_by_zorder_range, repartition_by_hilbert_range])
Call = Callable[..., "DataFrame"]

GRID = ["id", "id * 2741 % 32 AS a", "id * 2741 % 1024 DIV 32 AS b"]


def boxes(df: DataFrame) -> list[tuple[int, int, int]]:
    """For each partition: the number of rows, and how many values its range of `a` and of `b` has."""
    bounds = df.groupBy(f.spark_partition_id().alias("p")).agg(
        f.count("*").alias("n"), (f.max("a") - f.min("a") + 1).alias("a"), (f.max("b") - f.min("b") + 1).alias("b")
    )
    return [(row.n, row.a, row.b) for row in bounds.orderBy("p").collect()]


@older_sparks
@calls
def test_partitions_are_boxes(spark: SparkSession, call: Call) -> None:
    grid = spark.range(1024).selectExpr(*GRID)
    clustered = call(grid, 16, "a", "b")
    assert boxes(clustered) == [(64, 8, 8)] * 16
    assert clustered.columns == grid.columns
    assert clustered.exceptAll(grid).count() == 0


@pytest.mark.test_rest
@older_sparks
@calls
def test_columns_are_names_or_expressions_and_the_number_may_be_left_out(spark: SparkSession, call: Call) -> None:
    grid = spark.range(1024).selectExpr(*GRID)
    assert boxes(call(grid, 16, f.col("a"), grid["b"] + 1)) == [(64, 8, 8)] * 16
    # Without a number, spark.sql.shuffle.partitions counts.
    assert boxes(call(grid, "a", "b")) == boxes(call(grid, 4, "a", "b"))
    struct = grid.select("*", f.struct("a", "b").alias("s"))
    assert boxes(call(struct, 16, "s.a", "s.b")) == [(64, 8, 8)] * 16


@pytest.mark.test_all
def test_over_spark_connect(tmp_path: Path) -> None:
    program = f"""
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession, functions as f
from spark_zorder import configure_spark, repartition_by_hilbert_range, repartition_by_zorder_range
spark = configure_spark(SparkSession.builder.remote("local[2]")).getOrCreate()
assert "connect" in type(spark).__module__, type(spark)
grid = spark.range(1024).selectExpr(*{GRID})
for call in (repartition_by_zorder_range, repartition_by_hilbert_range):
    for columns in (("a", "b"), (f.col("a"), grid["b"])):
        rows = call(grid, 16, *columns)
        parts = rows.groupBy(f.spark_partition_id()).agg(f.max(rows["a"]) - f.min(grid["a"]), f.count("*"))
        print("parts", sorted(set((row[1], row[2]) for row in parts.collect())), parts.count())
try:
    repartition_by_zorder_range(grid, 0, "a").collect()
except AnalysisException as error:
    print("refused", error.getCondition())
spark.stop()
"""
    out = printed([sys.executable, "-c", program], tmp_path)
    assert out.count("parts [(7, 64)] 16") == 4
    assert "refused ZORDER_INVALID_HINT.PARTITIONS" in out
