"""Users' functions that have the name of one of ours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.functions import call_function, col, expr

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

CALL = "SELECT zvalue(1L, 2L)"
USERS = 1002


def first(spark: SparkSession, query: str) -> object:
    """The only value of a query."""
    return spark.sql(query).collect()[0][0]


@pytest.fixture
def users(spark: SparkSession, database: Path) -> Iterator[str]:
    """A database, which is the current one, with a user's function `zvalue`."""
    spark.sql("CREATE FUNCTION zvalue(a BIGINT, b BIGINT) RETURNS BIGINT RETURN a * 1000 + b")
    yield database.name
    spark.sql("USE default")
    spark.sql(f"DROP FUNCTION IF EXISTS {database.name}.zvalue")


@pytest.mark.parametrize("name", ["zvalue", "ZValue", "{0}.zvalue", "spark_catalog.{0}.zvalue"])
def test_the_function_of_a_user_goes_before_ours(spark: SparkSession, users: str, name: str) -> None:
    assert first(spark, f"SELECT {name.format(users)}(1L, 2L)") == USERS
    assert first(spark, f"SELECT * FROM (SELECT {name.format(users)}(id, 2L) FROM range(1, 2))") == USERS


def test_so_it_does_in_frames_and_descriptions(spark: SparkSession, users: str) -> None:
    frame = spark.range(1, 2)
    assert frame.select(expr("zvalue(id, 2L)")).first()[0] == USERS  # type: ignore[index]
    assert frame.select(call_function("zvalue", col("id"), col("id") + 1)).first()[0] == USERS  # type: ignore[index]
    assert f"{users}.zvalue" in str(spark.sql("DESCRIBE FUNCTION zvalue").collect())


def test_in_another_database_the_name_is_ours(spark: SparkSession, users: str) -> None:
    spark.sql("USE default")
    assert isinstance(first(spark, CALL), (bytes, bytearray))
    assert first(spark, f"SELECT {users}.zvalue(1L, 2L)") == USERS


def test_a_view_means_what_it_meant_when_it_was_made(spark: SparkSession, users: str) -> None:
    spark.sql(f"CREATE VIEW v AS {CALL} AS z")
    spark.sql("USE default")
    assert first(spark, f"SELECT z FROM {users}.v") == USERS


def test_a_function_of_a_user_finds_another(spark: SparkSession, users: str) -> None:
    spark.sql("CREATE FUNCTION twice(a BIGINT) RETURNS BIGINT RETURN zvalue(a, a + 1) * 2")
    assert first(spark, "SELECT twice(1L)") == 2 * USERS
    spark.sql("DROP FUNCTION twice")


def test_once_it_is_dropped_the_name_is_ours_again(spark: SparkSession, users: str) -> None:
    spark.sql(f"DROP FUNCTION {users}.zvalue")
    assert isinstance(first(spark, CALL), (bytes, bytearray))


def test_a_temporary_function_goes_before_both(spark: SparkSession, users: str) -> None:
    spark.udf.register("zvalue", lambda a, b: a + b, "bigint")
    assert first(spark, CALL) == 3
    assert spark.range(1, 2).select(expr("ZVALUE(id, 2L)")).first()[0] == 3  # type: ignore[index]
    assert first(spark, f"SELECT {users}.zvalue(1L, 2L)") == USERS
    spark.sql("USE default")
    assert first(spark, CALL) == 3
