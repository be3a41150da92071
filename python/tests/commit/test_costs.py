"""The costs of a statement in listings, jobs and writes."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

FORMATS = pytest.mark.parametrize("file_format", ["parquet", "orc"])


def side_files(folder: Path) -> dict[str, int]:
    """Everything in the side folder, with its times."""
    return {str(p): p.stat().st_mtime_ns for p in (folder / "_zorder").rglob("*")}


def listed_by(spark: SparkSession, statement: str) -> int:
    """The number of files that Spark lists for a statement. Each listing counts all files of the table."""
    metrics = spark._jvm.org.apache.spark.metrics.source.HiveCatalogMetrics  # type: ignore[union-attr]
    counter = metrics.METRIC_FILES_DISCOVERED()
    before = counter.getCount()
    spark.sql(statement).collect()
    return int(counter.getCount() - before)


@FORMATS
@pytest.mark.parametrize("partitioned", [False, True])
def test_statements_list_once(spark: SparkSession, database: Path, file_format: str, partitioned: bool) -> None:
    by = "PARTITIONED BY (p)" if partitioned else ""
    spark.sql(f"CREATE TABLE t (id BIGINT, a INT, p INT) USING {file_format} {by}")
    spark.sql("INSERT INTO t SELECT /*+ REPARTITION(8) */ id, CAST(id AS INT), CAST(id % 2 AS INT) FROM range(80)")
    spark.sql("CREATE SKIPPING INDEX ON t")
    files = sum(1 for p in (database / "t").rglob(f"*.{file_format}") if "_zorder" not in p.parts)
    by_path = f"{file_format}.`{database / 't'}`"
    for name in ("t", by_path):
        assert listed_by(spark, f"REFRESH SKIPPING INDEX ON {name}") == files, name
        assert listed_by(spark, f"DESCRIBE SKIPPING INDEX ON {name}") == files, name
        assert listed_by(spark, f"DESCRIBE CLUSTERING {name}") == files, name
        assert listed_by(spark, f"DESCRIBE DETAIL {name}") == files, name
        assert listed_by(spark, f"DESCRIBE HISTORY {name}") == 0, name
        assert listed_by(spark, f"VACUUM {name} DRY RUN") == files, name
    spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '4')")
    files = sum(1 for p in (database / "t").rglob(f"*.{file_format}") if "_zorder" not in p.parts)
    for name in ("t", by_path):
        assert listed_by(spark, f"OPTIMIZE {name} ZORDER BY (a) OPTIONS ('num-files' = '4')") == files, name


@FORMATS
def test_a_refresh_with_nothing_new_writes_nothing(spark: SparkSession, database: Path, file_format: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, a INT, b INT) USING {file_format}")
    spark.sql("INSERT INTO t SELECT /*+ REPARTITION(4) */ id, id, id FROM range(100)")
    spark.sql("CREATE SKIPPING INDEX ON t")
    before = side_files(database / "t")
    spark.sql("REFRESH SKIPPING INDEX ON t")
    assert side_files(database / "t") == before
    # A deleted file and a new one make a difference.
    spark.sql("INSERT INTO t SELECT /*+ REPARTITION(1) */ id, id, id FROM range(10)")
    spark.sql("REFRESH SKIPPING INDEX ON t")
    assert side_files(database / "t") != before
    statuses = spark.sql("DESCRIBE SKIPPING INDEX ON t").select("path", "status").distinct().collect()
    assert len(statuses) == 5
    assert {s["status"] for s in statuses} == {"indexed"}
    before = side_files(database / "t")
    next((database / "t").glob(f"*.{file_format}")).unlink()
    spark.sql("REFRESH SKIPPING INDEX ON t")
    assert side_files(database / "t") != before


def test_describe_makes_its_rows_slice_by_slice(spark: SparkSession, database: Path) -> None:
    columns = [f"id + {n} AS c{n}" for n in range(300)]
    spark.range(8, numPartitions=8).selectExpr(*columns).write.saveAsTable("t")
    spark.sql("CREATE SKIPPING INDEX ON t")
    described = spark.sql("DESCRIBE SKIPPING INDEX ON t")
    assert described.rdd.getNumPartitions() == 2
    # The rows are those of the moment of the statement.
    spark.sql("OPTIMIZE t ZORDER BY (c0) OPTIONS ('num-files' = '1')")
    rows = described.collect()
    assert [r["column"] for r in rows] == [f"c{n}" for n in range(300)] * 8
    assert len({r["path"] for r in rows}) == 8
    assert {r["status"] for r in rows} == {"indexed"}
    assert sorted(int(r["min"]) for r in rows if r["column"] == "c299") == list(range(299, 307))
    assert spark.sql("DESCRIBE SKIPPING INDEX ON t").where("column = 'c7' AND max = '14'").count() == 1


def test_keys_that_a_layout_cannot_tell_apart_are_named(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (url STRING, a INT) USING parquet")
    spark.sql(
        "INSERT INTO t SELECT /*+ REPARTITION(2) */ concat(repeat('x', 300), CAST(id AS STRING)), CAST(id AS INT) "
        "FROM range(100)"
    )
    [result] = spark.sql("OPTIMIZE t ZORDER BY (url, a) OPTIONS ('num-files' = '4')").collect()
    reason = result["metrics"]["strategy"]["reason"]
    assert "warning: all sampled values of `url` begin with the same 256 bytes" in reason
    assert "`a`" not in reason
