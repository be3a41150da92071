"""What docs/support.md is made of: for each feature, what Spark itself needs for it, and what we do with it."""

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

from spark_zorder import repartition_by_zorder_range
from spark_zorder.errors import errors_of_spark

Work = Callable[["SparkSession"], object]


@dataclass(frozen=True)
class Feature:
    """A line of the page."""

    name: str
    work: Work
    """Fails if we do not have the feature on this Spark."""
    spark: Work | None = None
    """Fails if Spark does not have what the feature is about. None if every Spark has it."""

    def cell(self, spark: SparkSession) -> str:
        """`yes`, `no`, or `-` if Spark itself does not have it."""
        if self.spark and not _works(self.spark, spark):
            return "-"
        return "yes" if _works(self.work, spark) else "**no**"


def _works(work: Work, spark: SparkSession) -> bool:
    failures: tuple[type[Exception], ...] = (*errors_of_spark(), AttributeError)
    try:
        return work(spark) is not False
    except failures:
        return False


def _sql(*statements: str) -> Work:
    return lambda spark: [spark.sql(statement).collect() for statement in statements]


def _rewritten(columns: str, statement: str) -> Work:
    """Runs a statement on a new table of one file. The table goes away again."""
    make = f"CREATE TABLE available USING parquet AS SELECT {columns} FROM range(100)"

    def work(spark: SparkSession) -> object:
        spark.sql("DROP TABLE IF EXISTS available")
        spark.sql(make)
        rows = spark.sql("SELECT count(*) FROM available").collect()
        spark.sql(statement).collect()
        return spark.sql("SELECT count(*) FROM available").collect() == rows

    return work


def _skips(spark: SparkSession) -> bool:
    spark.sql("DROP TABLE IF EXISTS available")
    spark.sql("CREATE TABLE available USING parquet AS SELECT /*+ REPARTITION(4) */ id FROM range(1000)")
    spark.sql("OPTIMIZE available ZORDER BY (id) OPTIONS ('num-files' = '4')").collect()
    [scan] = spark.sql("EXPLAIN SKIPPING SELECT * FROM available WHERE id = 7").collect()
    return bool(scan["files_kept"] == 1)


def _restored(spark: SparkSession) -> bool:
    _skips(spark)
    spark.sql("RESTORE available TO VERSION AS OF 0").collect()
    spark.sql("VACUUM available RETAIN 0 HOURS DRY RUN").collect()
    return spark.table("available").count() == 1000


def _bound(spark: SparkSession) -> bool:
    _skips(spark)
    [scan] = spark.sql("EXPLAIN SKIPPING SELECT * FROM available WHERE id = :id", {"id": 7}).collect()
    return bool(scan["files_kept"] == 1)


def _condition(spark: SparkSession) -> bool:
    try:
        spark.sql("OPTIMIZE nowhere ZORDER BY (a)")
    except errors_of_spark() as error:
        return error.getCondition() == "ZORDER_TABLE_NOT_FOUND"  # type: ignore[attr-defined,no-any-return]
    return False


def _server(spark: SparkSession) -> object:
    return spark._jvm.java.lang.Class.forName("org.apache.spark.sql.connect.service.SparkConnectServer")  # type: ignore[union-attr]


OPTIMIZE = "OPTIMIZE available ZORDER BY (a)"

FEATURES = [
    Feature("`OPTIMIZE` and skipping", _skips),
    Feature("`RESTORE` and `VACUUM`", _restored),
    Feature(
        "`repartition_by_zorder_range`",
        lambda spark: repartition_by_zorder_range(spark.range(100), 4, f.col("id")).rdd.getNumPartitions() == 4,
    ),
    Feature("parameters in the query of `EXPLAIN SKIPPING`", _bound),
    Feature("key columns of `TIMESTAMP_NTZ`", _rewritten("TIMESTAMP_NTZ'2026-01-01 00:00:00' AS a", OPTIMIZE)),
    Feature(
        "key columns of `TIME`",
        _rewritten("CAST('12:00:00' AS TIME) AS a", OPTIMIZE),
        _sql("SET spark.sql.timeType.enabled = true", "SELECT CAST('12:00:00' AS TIME)"),
    ),
    Feature(
        "tables with columns of `VARIANT`",
        _rewritten("id AS a, parse_json('1') AS v", OPTIMIZE),
        _sql("SELECT parse_json('1')"),
    ),
    Feature(
        "`ordered_bytes` of text with a collation",
        _sql("SELECT ordered_bytes('a' COLLATE UTF8_LCASE)"),
        _sql("SELECT 'a' COLLATE UTF8_LCASE"),
    ),
    Feature(
        "the columns of `CLUSTER BY` as the layout",
        _rewritten("1 AS x", "OPTIMIZE clustered"),
        _sql("DROP TABLE IF EXISTS clustered", "CREATE TABLE clustered (a BIGINT) USING parquet CLUSTER BY (a)"),
    ),
    Feature(
        "our statements in SQL scripts, by `EXECUTE IMMEDIATE`",
        _rewritten("id AS a", f"BEGIN EXECUTE IMMEDIATE '{OPTIMIZE}'; END"),
        _sql("SET spark.sql.scripting.enabled = true", "BEGIN SELECT 1; END"),
    ),
    Feature("`getCondition()` of an error in Python", _condition, _condition),
    Feature("a Spark Connect server in the package `pyspark`", _server, _server),
]
