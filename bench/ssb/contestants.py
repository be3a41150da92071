"""The contestants: an engine each, the files that it reads, and how a query names them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ssb.data import DIMENSIONS, FLAT, STAR

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from ssb.queries import Query

OURS = "ours, star"


@dataclass(frozen=True)
class Contestant:
    """An engine with a star or with its flattened table, in a session and a database of their own.

    Args:
        name: how pages and pictures name it
        session: where its queries run
        format: of all its tables, `parquet` or `delta`
        folders: of each table by name; the first one is the large one
    """

    name: str
    session: SparkSession
    format: str
    folders: dict[str, Path]

    @property
    def table(self) -> str:
        """The large table."""
        return next(iter(self.folders))

    def register(self) -> None:
        """Name the tables in a new database, and make it the current one."""
        database = re.sub(r"\W+", "_", self.name)
        self.session.sql(f"DROP DATABASE IF EXISTS {database} CASCADE")
        self.session.sql(f"CREATE DATABASE {database}")
        self.session.sql(f"USE {database}")
        for table, folder in self.folders.items():
            self.session.sql(f"CREATE TABLE {table} USING {self.format} LOCATION '{folder}'")

    def text(self, query: Query) -> str:
        """The query as this contestant is asked it."""
        return query.flat() if self.table == FLAT else query.star()


def contestants(spark: SparkSession, bare: SparkSession, source: Path, work: Path) -> list[Contestant]:
    """All of them, ours first.

    Args:
        spark: a session with the extensions of all engines
        bare: a session without any
        source: the folder of the tables as they were made
        work: the folder where engines have put theirs
    """
    plain = dimensions(source)
    delta = {table: _delta(spark, folder, work / f"delta-{table}") for table, folder in plain.items()}
    return [
        Contestant(OURS, spark.newSession(), "parquet", {STAR: work / f"ours-{STAR}", **plain}),
        Contestant("ours, flat", spark.newSession(), "parquet", {FLAT: work / f"ours-{FLAT}"}),
        Contestant("delta, star", _unskipped(spark), "delta", {STAR: work / f"delta-{STAR}", **delta}),
        Contestant("delta, flat", _unskipped(spark), "delta", {FLAT: work / f"delta-{FLAT}"}),
        Contestant("spark, star", bare, "parquet", {STAR: source / STAR, **plain}),
    ]


def dimensions(source: Path) -> dict[str, Path]:
    """The folders of the dimensions as they were made."""
    return {table: source / table for table in DIMENSIONS}


def without_extensions(spark: SparkSession) -> SparkSession:
    """Make a session in the same JVM that has neither our extension nor another one. It has a catalog of its own."""
    from pyspark.sql import SparkSession as Made

    context: Any = spark.sparkContext
    conf = context._jsc.sc().conf()
    taken = {key: conf.get(key) for key in ("spark.sql.extensions", "spark.sql.catalog.spark_catalog")}
    for key in taken:
        conf.remove(key)
    sessions = context._jvm.org.apache.spark.sql.classic.SparkSession
    sessions.clearActiveSession()
    sessions.clearDefaultSession()
    bare = Made(context)
    # Each extension has a parser, which would be around Spark's own. Settings are taken now.
    parser = bare._jsparkSession.sessionState().sqlParser().getClass().getSimpleName()
    assert parser == "SparkSqlParser", parser
    for key, value in taken.items():
        conf.set(key, value)
    sessions.setDefaultSession(spark._jsparkSession)
    return bare


def _unskipped(spark: SparkSession) -> SparkSession:
    """A session where our extension leaves queries alone."""
    made = spark.newSession()
    made.conf.set("spark.zorder.skipping.enabled", "false")
    return made


def _delta(spark: SparkSession, source: Path, folder: Path) -> Path:
    """Write a dimension as a table of Delta."""
    if not (folder / "_delta_log").exists():
        spark.read.parquet(str(source)).write.format("delta").mode("overwrite").save(str(folder))
    return folder
