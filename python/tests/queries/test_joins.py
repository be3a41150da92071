"""Joins leave out files by their keys, on every Spark. JoinPruningSuite has all forms, on the newest one."""

import re
from pathlib import Path

import pytest
from comparison import no_skipping, settings
from pyspark.sql import SparkSession

pytestmark = pytest.mark.older_sparks

SKIPPED = (
    "SELECT t.*, w FROM t JOIN d ON t.id = d.id",
    "SELECT * FROM t WHERE id IN (SELECT id FROM d)",
    "SELECT t.id FROM t JOIN d ON t.i = d.id",
    "SELECT t.id FROM t JOIN d ON t.id <=> d.id",
    "SELECT t.id FROM t JOIN d ON t.f = d.id",
    "SELECT t.id, m FROM t JOIN d ON t.id = d.id JOIN e ON t.k = e.k",
    "SELECT x.id FROM (SELECT id, max(k) FROM t GROUP BY id) x JOIN d ON x.id = d.id",
)
WHOLE = ("SELECT t.id FROM t LEFT JOIN d ON t.id = d.id", "SELECT /*+ MERGE(d) */ t.id FROM t JOIN d ON t.id = d.id")
LATER = (*SKIPPED[3:], WHOLE[1])
"""Forms that `make test` leaves out."""


@pytest.fixture(scope="module")
def spark(spark_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> SparkSession:
    """A session with a table of eight files, and with keys in two of them."""
    spark = spark_session.newSession()
    folder: Path = tmp_path_factory.mktemp("joins") / "t"
    spark.range(0, 800, 1, 8).selectExpr(
        "id", "id % 10 AS k", "CAST(id AS INT) AS i", "CAST(id AS DOUBLE) AS f"
    ).write.parquet(str(folder))
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    spark.read.parquet(str(folder)).createOrReplaceTempView("t")
    keys = "(5L, 1), (720L, 2), (721L, 3), (5000L, 4), (NULL, 5)"
    spark.sql(f"SELECT * FROM VALUES {keys} AS d(id, w)").createOrReplaceTempView("d")
    spark.sql("SELECT id AS k, id % 3 AS m FROM range(0, 3)").createOrReplaceTempView("e")
    return spark


@pytest.mark.parametrize("adaptive", ["true", pytest.param("false", marks=pytest.mark.test_rest)])
@pytest.mark.parametrize(
    "query", [*SKIPPED[:3], WHOLE[0], *(pytest.param(q, marks=pytest.mark.test_rest) for q in LATER)]
)
def test_files_without_a_key_are_not_read(spark: SparkSession, query: str, adaptive: str) -> None:
    with settings(spark, **{"spark.sql.adaptive.enabled": adaptive}):
        with no_skipping(spark):
            expected = sorted(spark.sql(query).collect(), key=str)
        frame = spark.sql(query)
        assert sorted(frame.collect(), key=str) == expected
        plan = frame._jdf.queryExecution().executedPlan().toString()
        read = re.search(r"Joins: (\d+) of (\d+) files", plan)
        assert (read and read.groups()) == (("2", "8") if query in SKIPPED else None)
