"""Parameters in the WHERE of a statement."""

import datetime
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from spark_zorder import ZOrderTable

pytestmark = pytest.mark.older_sparks

DAY = datetime.date(2026, 1, 1)
LEGACY = "spark.sql.legacy.parameterSubstitution.constantsOnly"


@pytest.fixture
def days(spark: SparkSession, database: Path) -> SparkSession:
    spark.sql("CREATE TABLE days (id BIGINT, day DATE, name STRING) USING parquet PARTITIONED BY (day, name)")
    spark.sql("INSERT INTO days SELECT /*+ REPARTITION(4) */ id, DATE'2026-01-01', 'it\\'s \\\\ :x' FROM range(100)")
    spark.sql("INSERT INTO days SELECT /*+ REPARTITION(4) */ id, DATE'2026-01-02', 'b' FROM range(100)")
    return spark


def files(spark: SparkSession) -> dict[str, int]:
    rows = spark.sql("SELECT day, count(DISTINCT _metadata.file_name) FROM days GROUP BY day").collect()
    return {str(day): count for day, count in rows}


@pytest.mark.test_rest
@pytest.mark.parametrize(
    ("where", "args"),
    [
        ("day = :day", {"day": DAY}),
        ("day = :day AND name = :name", {"day": DAY, "name": "it's \\ :x"}),
        ("day IN (:day, :day) OR name = concat(:a, '?')", {"day": DAY, "a": "no"}),
        ("day = ?", [DAY]),
        ("name = ? AND day BETWEEN ? AND ?", ["it's \\ :x", DAY, DAY]),
    ],
)
def test_values_choose_the_partitions(days: SparkSession, where: str, args: Any) -> None:
    [row] = days.sql(f"OPTIMIZE days WHERE {where} DRY RUN", args=args).collect()
    assert row.metrics.numFilesRemoved == 4
    assert set(files(days).values()) == {4}
    days.sql(f"OPTIMIZE days WHERE {where}", args=args)
    assert files(days) == {"2026-01-01": 1, "2026-01-02": 4}
    assert days.table("days").count() == 200
    [operation] = days.sql("DESCRIBE HISTORY days").collect()
    assert "2026-01-01" in operation.operationParameters["predicate"] or "it" in str(operation.operationParameters)


@pytest.mark.parametrize("args", [{}, {"other": 1}])
def test_a_parameter_without_value_is_named(days: SparkSession, args: dict[str, Any]) -> None:
    with pytest.raises(AnalysisException, match=r"UNBOUND_SQL_PARAMETER.* day\."):
        days.sql("OPTIMIZE days WHERE day = :day", args=args)
    assert set(files(days).values()) == {4}


def test_values_are_bound_by_the_analyzer_for_an_old_setting(days: SparkSession) -> None:
    days.conf.set(LEGACY, "true")
    days.sql("OPTIMIZE days WHERE day = :day", args={"day": DAY})
    assert files(days) == {"2026-01-01": 1, "2026-01-02": 4}
    with pytest.raises(AnalysisException, match=r"UNBOUND_SQL_PARAMETER.* day\."):
        days.sql("OPTIMIZE days WHERE day = :day", args={"other": 1})


def test_a_comment_in_where_ends_before_the_next_clause(days: SparkSession) -> None:
    table = ZOrderTable(days, "days")
    table.optimize(where="day = DATE'2026-01-01' -- the first", dry_run=True)
    assert set(files(days).values()) == {4}
