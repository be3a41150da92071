"""Collects the answers of statements, in programs that tests start in a session of their own."""

import json
from collections.abc import Mapping
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession


class Answers:
    """Answers by the names of their statements: rows as objects, or `{"error": ..}`."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.found: dict[str, Any] = {}

    def ask(self, name: str, sql: str) -> None:
        try:
            rows = self.spark.sql(sql).collect()
            self.found[name] = json.loads(json.dumps([row.asDict(recursive=True) for row in rows], default=str))
        except PySparkException as error:
            self.found[name] = {"error": f"{type(error).__name__} [{error.getCondition()}] {str(error)[:1000]}"}

    def ask_rows(self, name: str, source: str = "") -> None:
        """All rows, and those of a point."""
        self.ask(f"{name} rows", f"SELECT count(*) AS n, sum(id) AS s FROM {source or name}")
        self.ask(f"{name} point", f"SELECT id FROM {source or name} WHERE a = 737 AND b = 367 ORDER BY id")

    def ask_plan(self) -> None:
        """What skipping says of a query of `plain`, and what the query does."""
        self.ask("plain skipping", "EXPLAIN SKIPPING SELECT * FROM plain WHERE a = 737 AND b = 367")
        self.ask("plain plan", "EXPLAIN SELECT * FROM plain WHERE a = 737 AND b = 367")

    def tell(self) -> None:
        """Print all answers as JSON, as the last line."""
        print(json.dumps(self.found))


OURS = "org.sparkzorder.ZOrderSparkExtension"


def session(jars: str, settings: Mapping[str, str], *extensions: str) -> SparkSession:
    """A small session with these jars and extensions, or with ours alone."""
    builder = SparkSession.builder.master("local[2]").config("spark.jars", jars)
    small = {
        "spark.sql.extensions": ",".join(extensions or (OURS,)),
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    for key, value in {**small, **settings}.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def numbers(spark: SparkSession) -> DataFrame:
    """2000 rows, which are also the view `numbers`."""
    rows = spark.range(2000).selectExpr("id", "id * 7919 % 1000 AS a", "id * 104729 % 1000 AS b")
    rows.createOrReplaceTempView("numbers")
    return rows
