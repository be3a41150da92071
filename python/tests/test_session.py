"""What `configure_spark` does to a builder, before any JVM is there."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from spark_zorder import EXTENSION, configure_spark, jar_path

pytestmark = pytest.mark.every_spark


def options(builder: SparkSession.Builder) -> dict[str, str]:
    return {key: str(value) for key, value in builder._options.items()}


def test_the_jar_and_the_extension_are_added() -> None:
    builder = SparkSession.builder
    assert configure_spark(builder) is builder
    assert options(builder) == {"spark.jars": str(jar_path()), "spark.sql.extensions": EXTENSION}


def test_what_was_set_is_kept_and_ours_goes_last() -> None:
    builder = SparkSession.builder.config("spark.jars", "/a.jar, /b.jar").config("spark.sql.extensions", "org.A,org.B")
    assert options(configure_spark(builder.master("local[1]"))) == {
        "spark.jars": f"/a.jar,/b.jar,{jar_path()}",
        "spark.sql.extensions": f"org.A,org.B,{EXTENSION}",
        "spark.master": "local[1]",
    }


def test_an_empty_setting_counts_as_none() -> None:
    builder = configure_spark(SparkSession.builder.config("spark.jars", "").config("spark.sql.extensions", " , "))
    assert options(builder) == {"spark.jars": str(jar_path()), "spark.sql.extensions": EXTENSION}


def test_twice_is_the_same_as_once() -> None:
    builder = configure_spark(SparkSession.builder.config("spark.sql.extensions", "org.A"))
    once = options(builder)
    assert options(configure_spark(builder)) == once


def test_ours_moves_behind_what_was_added_since() -> None:
    builder = SparkSession.builder.config("spark.sql.extensions", f"{EXTENSION},org.A")
    assert options(configure_spark(builder))["spark.sql.extensions"] == f"org.A,{EXTENSION}"
