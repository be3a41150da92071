"""Files that the interval on the curve skips, although the bounds of every column overlap the query."""

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.test_all


def explain(spark: SparkSession, query: str) -> tuple[int, int, list[str]]:
    """The files kept, all files, and the reason that EXPLAIN SKIPPING gives for the interval."""
    [scan] = spark.sql(f"EXPLAIN SKIPPING {query}").collect()
    curve = [c for c in scan["conjuncts"] if c["reason"] and c["reason"].startswith("CURVE_INTERVAL")]
    for c in curve:
        assert c["files_kept"] == scan["files_kept"]
    return scan["files_kept"], scan["files_total"], [c["reason"] for c in curve]


def by_bounds(spark: SparkSession, ranges: dict[str, tuple[str, str]]) -> int:
    """The number of files whose bounds in DESCRIBE SKIPPING INDEX overlap the ranges."""
    index = spark.sql("DESCRIBE SKIPPING INDEX ON t").collect()
    kept: dict[str, bool] = {}
    for row in index:
        if row["column"] in ranges:
            low, high = ranges[row["column"]]
            kept[row["path"]] = kept.get(row["path"], True) and row["min"] <= high and low <= row["max"]
    return sum(kept.values())


def without(spark: SparkSession, query: str) -> list[str]:
    spark.conf.set("spark.zorder.skipping.enabled", "false")
    answer = rows(spark.sql(query))
    spark.conf.unset("spark.zorder.skipping.enabled")
    return answer


def rows(frame: DataFrame) -> list[str]:
    """The rows as text, so that NaN and null can be compared."""
    return sorted(map(repr, frame.collect()))


def test_files_go_that_the_bounds_of_the_columns_keep(spark: SparkSession, database: Path) -> None:
    spark.sql(
        """CREATE TABLE t USING parquet AS SELECT /*+ REPARTITION(3) */ id,
        format_string('%04d', pmod(hash(id), 1000)) AS a, format_string('%04d', pmod(hash(id, 1), 1000)) AS b
        FROM range(20000)"""
    )
    spark.sql("OPTIMIZE t ZORDER BY (a, b) OPTIONS ('num-files' = '23', 'cuts' = 'equal')")
    most = 0
    for low_a in range(0, 1000, 90):
        for low_b in range(0, 1000, 90):
            ranges = {"a": (f"{low_a:04d}", f"{low_a + 60:04d}"), "b": (f"{low_b:04d}", f"{low_b + 60:04d}")}
            condition = " AND ".join(f"{c} BETWEEN '{low}' AND '{high}'" for c, (low, high) in ranges.items())
            kept, _, reasons = explain(spark, f"SELECT * FROM t WHERE {condition}")
            bounds = by_bounds(spark, ranges) if reasons else kept
            assert kept <= bounds
            if reasons:
                assert f"of the curve of {bounds - kept} more files" in reasons[0]
                query = f"SELECT * FROM t WHERE {condition}"
                assert rows(spark.sql(query)) == without(spark, query)
            most = max(most, bounds - kept)
            if most >= 1 and low_a >= 450:
                return
    assert most >= 1
