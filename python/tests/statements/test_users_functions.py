"""Users' functions that have the name of one of ours, in DataFrames and of Python. SQL has `users_functions.sql`."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.functions import call_function, col, expr

pytestmark = pytest.mark.test_all

CALL = "SELECT zvalue(1L, 2L)"
USERS = 1002


def first(spark: SparkSession, query: str) -> object:
    return spark.sql(query).collect()[0][0]


@pytest.fixture
def users(spark: SparkSession, database: Path) -> Iterator[str]:
    """A database, which is the current one, with a user's function `zvalue`."""
    spark.sql("CREATE FUNCTION zvalue(a BIGINT, b BIGINT) RETURNS BIGINT RETURN a * 1000 + b")
    yield database.name
    spark.sql("USE default")
    spark.sql(f"DROP FUNCTION IF EXISTS {database.name}.zvalue")


def test_so_it_does_in_frames_and_descriptions(spark: SparkSession, users: str) -> None:
    frame = spark.range(1, 2)
    assert frame.select(expr("zvalue(id, 2L)")).first()[0] == USERS  # type: ignore[index]
    assert frame.select(call_function("zvalue", col("id"), col("id") + 1)).first()[0] == USERS  # type: ignore[index]
    assert f"{users}.zvalue" in str(spark.sql("DESCRIBE FUNCTION zvalue").collect())


def test_a_temporary_function_goes_before_both(spark: SparkSession, users: str) -> None:
    spark.udf.register("zvalue", lambda a, b: a + b, "bigint")
    assert first(spark, CALL) == 3
    assert spark.range(1, 2).select(expr("ZVALUE(id, 2L)")).first()[0] == 3  # type: ignore[index]
    assert first(spark, f"SELECT {users}.zvalue(1L, 2L)") == USERS
    spark.sql("USE default")
    assert first(spark, CALL) == 3
