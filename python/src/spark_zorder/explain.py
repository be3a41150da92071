"""`explain_skipping`: the files that a query reads and skips."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, cast

from spark_zorder.clustering import FileRange
from spark_zorder.errors import condition_of
from spark_zorder.names import quote_string
from spark_zorder.result import ResultFrame
from spark_zorder.statements import Session, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame


class SkippingExplanation(ResultFrame):
    """What a query reads and skips. It works as the DataFrame of `EXPLAIN SKIPPING`, and it can be drawn.

    Examples:
        >>> from spark_zorder import explain_skipping
        >>> result = events.optimize(["user", "day"], options={"num-files": 16})
        >>> explain_skipping(spark.table("events").where("user = 7"))
        scan 0 of spark_catalog...events: reads 4 of 16 files
    """

    def __init__(self, df: DataFrame, spark: Session, query: str | DataFrame) -> None:
        super().__init__(df)
        self._spark = spark
        self._query = query

    def files(self) -> DataFrame:
        """Show each file of each scan, and whether the query reads it: `EXPLAIN SKIPPING FILES`.

        Returns:
            A row for each file: `scan`, `target`, `columns` of the conditions, `path`, `bytes`, `kept`.

        Examples:
            >>> result = events.optimize(["user", "day"], options={"num-files": 16})
            >>> explain_skipping(spark.table("events").where("user = 7")).files().where("kept").count()
            4
        """
        return _explain(self._spark, "EXPLAIN SKIPPING FILES", self._query)

    def plot(self, *columns: str) -> Figure:
        """Draw the files of each scan as cells, those that are read and those that are skipped. Needs matplotlib.

        A cell spans the values of two columns that its file holds. Of one column, each file is a bar.

        Args:
            columns: One or two columns of the index. By default, those that the table is clustered by, and first those
                of them that are in the query's conditions.

        Returns:
            The figure. A notebook shows it.

        Raises:
            ModuleNotFoundError: matplotlib is not installed.
            ValueError: The query reads no files.

        Examples:
            >>> result = events.optimize(["user", "day"], options={"num-files": 16})
            >>> explain_skipping(spark, "SELECT * FROM events WHERE user = 7").plot().savefig("skipped.png")
        """
        from spark_zorder.plot_skipping import ScanPicture, draw

        names = {row.scan: row.relation for row in self._df.collect()}
        files = self.files().collect()
        pictures = []
        for scan in sorted({row.scan for row in files}):
            of_scan = [row for row in files if row.scan == scan]
            ranges = self._ranges(of_scan[0].target, columns or of_scan[0].columns, more=not columns)
            kept = {row.path: row.kept for row in of_scan}
            pictures.append(ScanPicture(names[scan], kept, ranges))
        return draw(pictures)

    def _ranges(self, target: str | None, wanted: tuple[str, ...] | list[str], *, more: bool) -> list[FileRange]:
        """The bounds of the first two columns that the index has."""
        from pyspark.errors import AnalysisException

        if target is None:
            return []
        clustered = self._spark.sql(f"DESCRIBE DETAIL {target}").collect()[0].clusteringColumns if more else []
        # The files of the layout's columns overlap least.
        columns = sorted(dict.fromkeys([*wanted, *clustered]), key=lambda c: (c not in clustered, c not in wanted))
        columns = columns if more else list(wanted)
        if not columns:
            return []
        try:
            index = self._spark.sql(f"DESCRIBE SKIPPING INDEX ON {target}")
            names = ", ".join(map(quote_string, columns))
            ranges = FileRange.all_of(index.where(f"column IN ({names})").collect())
        except AnalysisException as error:
            if condition_of(error) != "ZORDER_INDEX_NOT_FOUND":
                raise
            return []
        known = [column for column in columns if any(r.column == column for r in ranges)][:2]
        return [r for column in known for r in ranges if r.column == column]

    def __repr__(self) -> str:
        return "\n".join(
            f"scan {row.scan} of {row.relation}: "
            + (
                "it is not known what it reads before it runs"
                if row.files_total is None
                else f"reads {row.files_kept:,} of {row.files_total:,} files"
            )
            for row in self._df.collect()
        )

    def __str__(self) -> str:
        return repr(self)


def explain_skipping(spark: Session | DataFrame, query: str | DataFrame | None = None) -> SkippingExplanation:
    """Show how many files a query reads and skips: `EXPLAIN SKIPPING`. It reads no data.

    Args:
        spark: The session. It may be left out before a DataFrame.
        query: A query in SQL, or a DataFrame of this session. Both may be of Spark Connect.

    Returns:
        A row for each scan of files: `scan`, `relation`, `files_total`, `files_kept`, `bytes_total`, `bytes_kept`,
            `pruning_ms`, `conjuncts`. `.plot()` draws the files, and `.files()` lists them.

    Examples:
        >>> from spark_zorder import explain_skipping
        >>> result = events.optimize(["user", "day"], options={"num-files": 16})
        >>> query = "SELECT * FROM events WHERE user = 7 AND day = 3"
        >>> explain_skipping(spark, query).select("files_total", "files_kept").show()
        +-----------+----------+
        |files_total|files_kept|
        +-----------+----------+
        |         16|         1|
        +-----------+----------+
        >>> explain_skipping(spark.table("events").where("user = 7")).select("files_kept").show()
        +----------+
        |files_kept|
        +----------+
        |         4|
        +----------+
    """
    if query is None:
        if not hasattr(spark, "sparkSession"):
            raise TypeError("explain_skipping takes a session and a query, or a DataFrame alone")
        query = cast("DataFrame", spark)
        spark = query.sparkSession
    if not isinstance(query, str) and not hasattr(query, "createTempView"):
        raise TypeError(f"the query is of type {type(query).__name__}, and must be SQL text or a DataFrame")
    session = cast("Session", spark)
    return SkippingExplanation(_explain(session, "EXPLAIN SKIPPING", query), session, query)


def _explain(spark: Session, statement: str, query: str | DataFrame) -> DataFrame:
    if isinstance(query, str):
        return run(spark, f"{statement} {query.strip().removesuffix(';')}")
    name = f"explained_{uuid.uuid4().hex}"
    query.createTempView(name)
    try:
        return run(spark, f"{statement} SELECT * FROM {name}")
    finally:
        spark.sql(f"DROP VIEW {name}")
