"""Collects the answers of statements, in programs that tests start in a session of their own."""

import json
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession


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

    def tell(self) -> None:
        """Print all answers as JSON, as the last line."""
        print(json.dumps(self.found))
