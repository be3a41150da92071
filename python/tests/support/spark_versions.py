"""What `VERSION` and `spark-versions.txt` say: this project's version, and the versions of Spark that it supports."""

from dataclasses import dataclass
from pathlib import Path

import pyspark
from pyspark.sql import SparkSession

_REPOSITORY = Path(__file__).parents[3]


@dataclass(frozen=True)
class SupportedSpark:
    """One line of `spark-versions.txt`."""

    minor: str
    """`4.3`."""
    pyspark: str
    """The release of PySpark that the jar is built against and tested with."""
    scala: str
    """The version of Scala that this Spark was built with."""

    @property
    def artifact(self) -> str:
        """The name of our jar in a Maven repository, `spark-zorder-4.3_2.13`."""
        return f"spark-zorder-{self.minor}_{'.'.join(self.scala.split('.')[:2])}"

    @property
    def jar(self) -> str:
        return f"{self.artifact}-{VERSION}.jar"


VERSION = (_REPOSITORY / "VERSION").read_text().strip()
SPARKS = [
    SupportedSpark(*line.split())
    for line in (_REPOSITORY / "spark-versions.txt").read_text().splitlines()
    if line and not line.startswith("#")
]
"""Oldest first."""
NEWEST = SPARKS[-1]


PYSPARK_MINOR = ".".join(pyspark.__version__.split(".")[:2])
"""The minor version of the PySpark that runs the tests."""


def minor(spark: SparkSession) -> str:
    """The minor version of a session's Spark."""
    return ".".join(spark.version.split(".")[:2])
