"""Spark reuses and merges parts of a plan, and pushes filters late, as it does without skipping."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from comparison import files_read, items, no_skipping, same_rows
from pyspark.sql import DataFrame, SparkSession

FILES = 4
ROWS = 400


@pytest.fixture(scope="module")
def tables(spark_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """`reuse.t` has files in the order of `id`. `reuse.p` has the same in each of two partitions `day`."""
    spark = spark_session.newSession()
    folder = tmp_path_factory.mktemp("reuse")
    spark.sql(f"CREATE DATABASE reuse LOCATION '{folder}'")
    rows = spark.range(ROWS).selectExpr("id", "id % 7 AS a", "id * 2 AS b", "CAST(id % 2 AS INT) AS day")
    files = rows.repartitionByRange(FILES, "id")
    files.drop("day").write.saveAsTable("reuse.t")
    files.write.partitionBy("day").saveAsTable("reuse.p")
    for name in ("t", "p"):
        spark.sql(f"CREATE SKIPPING INDEX ON reuse.{name}")
    yield
    spark.sql("DROP DATABASE reuse CASCADE")


@pytest.fixture
def reuse(spark: SparkSession, tables: None) -> SparkSession:
    """A session in this database. It plans each query once, and reuses exchanges instead of broadcasts."""
    spark.sql("USE reuse")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "-1")
    return spark


def all_nodes(frame: DataFrame) -> Counter[str]:
    """The classes of the plan's nodes, with subqueries. Spark's scans and filters and ours have one name."""
    names = (n.getClass().getSimpleName() for n in every(frame._jdf.queryExecution().executedPlan()))
    return Counter(name.replace("SkippingScan", "FileSourceScan").removeprefix("Learning") for name in names)


def every(plan: Any) -> Iterator[Any]:
    """The node and all nodes below it, including those of subqueries."""
    yield plan
    for below in items(plan.subqueries()) + items(plan.children()):
        yield from every(below)


def same_nodes(spark: SparkSession, query: str) -> Counter[str]:
    """Check that the plan has the same nodes as without skipping, and the same rows."""
    with no_skipping(spark):
        expected = all_nodes(spark.sql(query))
    found = all_nodes(spark.sql(query))
    assert found == expected, query
    same_rows(spark, query)
    return found


def test_subqueries_in_another_order_are_one(reuse: SparkSession) -> None:
    subquery = "(SELECT max(b) FROM t WHERE {})"
    query = f"SELECT {subquery.format('id < 40 AND a > 2')} AS x, {subquery.format('a > 2 AND id < 40')} + 1 AS y"
    assert same_nodes(reuse, query)["FileSourceScanExec"] == 1


@pytest.mark.test_rest
def test_subqueries_of_the_same_rows_are_merged(reuse: SparkSession) -> None:
    reuse.conf.set("spark.zorder.aggregates.enabled", "false")
    query = "SELECT (SELECT max(b) FROM t WHERE id < 40), (SELECT sum(a) FROM t WHERE id < 40), (SELECT min(a) FROM t)"
    same_nodes(reuse, query)


@pytest.mark.test_rest
def test_subqueries_with_other_filters_are_merged_and_read_the_files_of_both(reuse: SparkSession) -> None:
    prefix = "spark.sql.optimizer.mergeSubplans.filterPropagation"
    reuse.conf.set(f"{prefix}.enabled", "true")
    reuse.conf.set(f"{prefix}.symmetricFilterPropagation.enabled", "true")
    query = "SELECT (SELECT max(b) FROM t WHERE id < 40), (SELECT sum(a) FROM t WHERE id > 390)"
    found = same_nodes(reuse, query)
    assert found["FileSourceScanExec"] == 1
    frame = reuse.sql(query)
    assert [scan.metrics().apply("numFiles").value() for scan in run(frame)] == [2]


LATE = [
    # The subquery has a filter of its own. It gets the one on id after it becomes a join.
    "SELECT id, (SELECT max(y.b) FROM {0} y WHERE y.id = x.id AND y.a >= 0) FROM t x WHERE id BETWEEN 10 AND 20",
    "SELECT id, (SELECT max(y.b) FROM {0} y WHERE y.id = x.id) FROM t x WHERE id BETWEEN 10 AND 20",
]


@pytest.mark.test_rest
@pytest.mark.parametrize("query", LATE)
def test_a_subquery_is_pruned_by_filters_that_come_later(reuse: SparkSession, query: str) -> None:
    found = query.format("t")
    assert files_read(reuse, found) == (2, 2 * FILES)
    assert sum(scan.metrics().apply("numFiles").value() for scan in run(reuse.sql(found))) == 2
    same_nodes(reuse, found)
    assert files_read(reuse, query.format("p")) == (3, 3 * FILES)
    same_rows(reuse, query.format("p"))


@pytest.mark.test_rest
def test_partitions_are_pruned_by_filters_that_come_later(reuse: SparkSession) -> None:
    query = (
        "SELECT id, (SELECT max(y.b) FROM p y WHERE y.id = x.id AND y.day = x.day AND y.a >= 0)"
        " FROM p x WHERE id < 20 AND day = 1"
    )
    assert files_read(reuse, query) == (2, 2 * FILES)
    same_rows(reuse, query)


def run(frame: DataFrame) -> list[Any]:
    frame.collect()
    plan = frame._jdf.queryExecution().executedPlan()
    return [n for n in every(plan) if n.getClass().getSimpleName() == "SkippingScanExec"]


@pytest.mark.test_rest
def test_the_metastore_is_asked_for_partitions_once(reuse: SparkSession, database: Path) -> None:
    reuse.sql("CREATE TABLE own USING parquet PARTITIONED BY (day) AS SELECT * FROM reuse.p")
    reuse.sql("OPTIMIZE own ZORDER BY (id)")
    metrics = reuse._jvm.org.apache.spark.metrics.source.HiveCatalogMetrics  # type: ignore[union-attr]
    # Each request for partitions takes their files from the cache, or lists them.
    for _ in range(2):
        metrics.reset()
        reuse.sql("SELECT * FROM own WHERE id < 20")._jdf.queryExecution().executedPlan()
        assert metrics.METRIC_FILE_CACHE_HITS().getCount() + metrics.METRIC_FILES_DISCOVERED().getCount() == 2
