"""The optimizer keeps its statistics of a table when files are skipped."""

import re
import sys
from pathlib import Path

import pytest
from comparison import no_skipping, node_names
from pyspark.sql import SparkSession
from pyspark.sql.functions import udf

from spark_zorder import explain_skipping

pytestmark = pytest.mark.test_all


def cost_of(spark: SparkSession, query: str) -> str:
    return str(spark.sql(f"EXPLAIN COST {query}").collect()[0][0]).split("== Physical Plan ==")[0]


def test_joins_are_ordered_by_rows_and_columns_as_without_skipping(spark: SparkSession, database: Path) -> None:
    spark.range(8000).selectExpr("id", "id % 100 AS a", "id % 10 AS b").write.saveAsTable("fact")
    for name, column in (("wide", "a"), ("narrow", "b")):
        spark.range(100 if name == "wide" else 10).selectExpr(f"id AS {column}", "id * 2 AS w").write.saveAsTable(name)
    spark.sql("OPTIMIZE fact ZORDER BY (a, id) OPTIONS ('num-files' = '8')")
    for table in ("fact", "wide", "narrow"):
        spark.sql(f"ANALYZE TABLE {table} COMPUTE STATISTICS FOR ALL COLUMNS")
    spark.conf.set("spark.sql.cbo.enabled", "true")
    spark.conf.set("spark.sql.cbo.joinReorder.enabled", "true")
    query = (
        "SELECT count(*) FROM fact JOIN wide ON fact.a = wide.a JOIN narrow ON fact.b = narrow.b "
        "WHERE fact.a = 7 AND narrow.w = 4"
    )
    [row] = [r for r in spark.sql(f"EXPLAIN SKIPPING {query}").collect() if "fact" in r["relation"]]
    assert row["files_kept"] < row["files_total"]
    skipping = cost_of(spark, query)
    spark.conf.set("spark.zorder.skipping.enabled", "false")
    plain = cost_of(spark, query)

    def estimates(plan: str) -> list[str]:
        return [line.split("Statistics(")[1] for line in plan.splitlines() if "Statistics(" in line and "Join" in line]

    assert estimates(skipping) == estimates(plain)
    assert all("rowCount" in e for e in estimates(skipping))


def test_a_python_function_of_a_partition_column_leaves_the_other_conjuncts_alone(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The first Python on the path may lack packages that the workers need.
    monkeypatch.setattr(spark.sparkContext, "pythonExec", sys.executable)
    folder = str(tmp_path / "t")
    spark.range(4000).selectExpr("id", "id % 2 AS p").write.partitionBy("p").parquet(folder)
    spark.sql(f"OPTIMIZE parquet.`{folder}` ZORDER BY (id) OPTIONS ('num-files' = '8')")
    is_one = udf(lambda p: p == 1, "boolean")
    frame = spark.read.parquet(folder).where("id < 100").where(is_one("p"))
    assert sorted(r["id"] for r in frame.collect()) == list(range(1, 100, 2))
    [row] = explain_skipping(spark, frame).df.collect()
    assert row["files_kept"] <= 2 < row["files_total"]
    assert not spark.catalog.listTables()


def test_partitions_are_pruned_before_sizes_and_joins_are_planned(spark: SparkSession, database: Path) -> None:
    rows = spark.range(4000).selectExpr("id", "id % 1000 AS a", "CAST(id % 20 AS INT) AS p")
    rows.write.partitionBy("p").saveAsTable("fact")
    spark.range(2000).selectExpr("CAST(id AS INT) AS k", "repeat('x', 50) AS v").write.saveAsTable("big")
    spark.sql("OPTIMIZE fact ZORDER BY (a) OPTIONS ('num-files' = '20')")
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", "20KB")
    metrics = spark._jvm.org.apache.spark.metrics.source.HiveCatalogMetrics  # type: ignore[union-attr]

    def planned(query: str) -> tuple[list[str], list[str], int]:
        """Sizes, joins and other nodes, and the number of listed files."""
        spark.catalog.refreshTable("fact")
        metrics.reset()
        sizes = re.findall(r"Relation \S*fact\S* .*sizeInBytes=([^,)]*)", cost_of(spark, query))
        discovered = metrics.METRIC_FILES_DISCOVERED().getCount()
        names = [name.replace("SkippingScan", "FileSourceScan") for name in node_names(spark.sql(query))]
        return sizes, names, discovered

    for index in (True, False):
        for query in (
            "SELECT count(*) FROM fact WHERE p < 4",
            "SELECT count(*) FROM big LEFT JOIN fact ON big.k = fact.p AND fact.p IN (1, 2)",
            "SELECT count(*) FROM big JOIN (SELECT p FROM fact WHERE p = 1 UNION SELECT p FROM fact WHERE p = 2) u"
            " ON big.k = u.p",
            "SELECT count(*) FROM fact x JOIN fact y ON x.p = y.p WHERE x.p < 4",
        ):
            with no_skipping(spark):
                plain = planned(query)
            ours = planned(query)
            assert ours[:2] == plain[:2]
            assert plain[0]
            assert 0 < ours[2] <= plain[2] <= 8
        if index:
            spark.sql("DROP SKIPPING INDEX ON fact")


@pytest.mark.parametrize(
    "condition",
    [
        "a < 10",
        "p = 3 OR a < 10",
        "p > rand() * 2 AND a < 10",
        "p IN (SELECT p FROM d WHERE k = 1) AND a < 10",
        "_metadata.file_modification_time > TIMESTAMP'2020-01-01' AND a < 10",
    ],
)
def test_partitions_are_listed_as_without_skipping(spark: SparkSession, database: Path, condition: str) -> None:
    spark.conf.set("spark.sql.hive.filesourcePartitionFileCacheSize", "0")
    spark.range(400).selectExpr("id AS a", "id % 4 AS p").write.partitionBy("p").saveAsTable("t")
    spark.range(4).selectExpr("id AS p", "id AS k").write.saveAsTable("d")
    spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '16')")
    counter = spark._jvm.org.apache.spark.metrics.source.HiveCatalogMetrics.METRIC_FILES_DISCOVERED()  # type: ignore[union-attr]
    query = f"SELECT count(*) FROM t WHERE {condition}"
    found = {}
    for enabled in ("false", "true"):
        spark.conf.set("spark.zorder.skipping.enabled", enabled)
        # A changed table is looked at once more. This is not part of a query.
        spark.sql(query).collect()
        before = counter.getCount()
        spark.sql(query).collect()
        found[enabled] = counter.getCount() - before
    assert 0 < found["true"] <= found["false"]
