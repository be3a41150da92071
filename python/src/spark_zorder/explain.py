"""`explain_skipping`: the files that a query reads and skips."""

from __future__ import annotations

import html
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast, overload

from spark_zorder.clustering import FileRange
from spark_zorder.errors import condition_of
from spark_zorder.names import quote_string
from spark_zorder.sizes import size_text
from spark_zorder.statements import Session, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame, Row


@dataclass(frozen=True)
class ConditionSkipping:
    """What one condition of a query skips.

    Attributes:
        predicate: The condition, as Spark has rewritten it.
        files_kept: The files that this condition alone would leave. None if statistics cannot answer it.
        reason: Why statistics cannot answer it, or what else skipped files. None if there is nothing to say.

    Examples:
        >>> result = events.optimize(["user", "day"], num_files=16)
        >>> [scan] = explain_skipping(spark, "SELECT * FROM events WHERE hash(id) = 9").scans
        >>> scan.conditions[-1].reason
        'FUNCTION_OF_COLUMN: hash of `id`'
    """

    predicate: str
    files_kept: int | None
    reason: str | None


@dataclass(frozen=True)
class ScanSkipping:
    """What one scan of a query reads and skips: a row of `EXPLAIN SKIPPING`.

    Attributes:
        scan: The number of the scan, from 0.
        relation: The table or the path.
        files_total: The files of the partitions that the scan reads. None if this is not known before the query runs.
        files_kept: The files that it reads. None if this is not known before the query runs.
        bytes_total: The bytes of `files_total`.
        bytes_kept: The bytes of `files_kept`.
        pruning_ms: Milliseconds that choosing the files took.
        conditions: The conditions that `AND` joins.
        files_without_rows: Files that were read though no row of them passed. None without `analyze`, or if nothing
            counted them.

    Examples:
        >>> result = events.optimize(["user", "day"], num_files=16)
        >>> [scan] = explain_skipping(spark, "SELECT * FROM events WHERE user = 7 AND day = 3").scans
        >>> scan.files_kept, scan.files_total
        (1, 16)
        >>> scan
        scan 0 of spark_catalog...events: reads 1 of 16 files
    """

    scan: int
    relation: str
    files_total: int | None
    files_kept: int | None
    bytes_total: int | None
    bytes_kept: int | None
    pruning_ms: float | None
    conditions: tuple[ConditionSkipping, ...]
    files_without_rows: int | None = None

    @classmethod
    def of(cls, row: Row) -> ScanSkipping:
        """Make a scan of a row of `EXPLAIN SKIPPING`.

        Examples:
            >>> ScanSkipping.of(spark.sql("EXPLAIN SKIPPING SELECT * FROM events").first()).files_total
            8
        """
        return cls(
            scan=row.scan,
            relation=row.relation,
            files_total=row.files_total,
            files_kept=row.files_kept,
            bytes_total=row.bytes_total,
            bytes_kept=row.bytes_kept,
            pruning_ms=row.pruning_ms,
            conditions=tuple(ConditionSkipping(c.predicate, c.files_kept, c.reason) for c in row.conjuncts or ()),
            files_without_rows=row.files_without_rows if "files_without_rows" in row else None,
        )

    def __repr__(self) -> str:
        if self.files_kept is None or self.files_total is None:
            return f"scan {self.scan} of {self.relation}: it is not known what it reads before it runs"
        without = self.files_without_rows
        in_vain = "" if without is None else f", {without:,} of them without a row"
        return f"scan {self.scan} of {self.relation}: reads {self.files_kept:,} of {self.files_total:,} files{in_vain}"


@dataclass(frozen=True, repr=False)
class SkippingExplanation:
    """What a query reads and skips. Printed, it is a line for each scan. It can be drawn.

    Attributes:
        scans: What each scan reads and skips.
        df: The DataFrame of `EXPLAIN SKIPPING`.

    Examples:
        >>> from spark_zorder import explain_skipping
        >>> result = events.optimize(["user", "day"], num_files=16)
        >>> explain_skipping(spark.table("events").where("user = 7"))
        scan 0 of spark_catalog...events: reads 4 of 16 files
    """

    scans: tuple[ScanSkipping, ...]
    df: DataFrame = field(compare=False)
    _spark: Session = field(compare=False)
    _query: str | DataFrame = field(compare=False)

    @property
    def summary(self) -> str:
        """A line for each scan.

        Examples:
            >>> explain_skipping("SELECT * FROM events").summary
            'scan 0 of spark_catalog...events: reads 8 of 8 files'
        """
        return "\n".join(map(repr, self.scans))

    @property
    def files_total(self) -> int | None:
        """The files of all scans. None if the files of a scan are not known before the query runs.

        Examples:
            >>> explain_skipping("SELECT * FROM events WHERE user = 7").files_total
            8
        """
        return _sum(scan.files_total for scan in self.scans)

    @property
    def files_kept(self) -> int | None:
        """The files that the query reads. None if those of a scan are not known before the query runs.

        Examples:
            >>> result = events.optimize(["user", "day"], num_files=16)
            >>> explain_skipping("SELECT * FROM events WHERE user = 7").files_kept
            4
        """
        return _sum(scan.files_kept for scan in self.scans)

    @property
    def files_without_rows(self) -> int | None:
        """The files that were read though no row of them passed the filter. None if nothing counted them.

        Examples:
            >>> explain_skipping("SELECT * FROM events WHERE user + day >= 0").files_without_rows is None
            True
        """
        return _sum(scan.files_without_rows for scan in self.scans)

    @property
    def bytes_total(self) -> int | None:
        """The bytes of `files_total`.

        Examples:
            >>> explain_skipping("SELECT * FROM events WHERE user = 7").bytes_total > 4000
            True
        """
        return _sum(scan.bytes_total for scan in self.scans)

    @property
    def bytes_kept(self) -> int | None:
        """The bytes of `files_kept`.

        Examples:
            >>> explained = explain_skipping("SELECT * FROM events WHERE user = 7")
            >>> explained.bytes_kept == explained.bytes_total
            True
        """
        return _sum(scan.bytes_kept for scan in self.scans)

    def files(self) -> DataFrame:
        """Show each file of each scan, and whether the query reads it: `EXPLAIN SKIPPING FILES`.

        Returns:
            A row for each file: `scan`, `target`, `columns` of the conditions, `path`, `bytes`, `kept`.

        Examples:
            >>> result = events.optimize(["user", "day"], num_files=16)
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
            >>> result = events.optimize(["user", "day"], num_files=16)
            >>> explain_skipping(spark, "SELECT * FROM events WHERE user = 7").plot().savefig("skipped.png")
        """
        from spark_zorder._plot.skipping import ScanPicture, draw

        names = {scan.scan: scan.relation for scan in self.scans}
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
        return self.summary

    def _repr_html_(self) -> str:
        if not self.scans:
            return "<p>The query reads no files.</p>"
        rows = "".join(
            f"<tr><td>{html.escape(s.relation)}</td><td>{_share(s.files_kept, s.files_total, '{:,}'.format)}</td>"
            f"<td>{_share(s.bytes_kept, s.bytes_total, size_text)}</td></tr>"
            for s in self.scans
        )
        return f"<table><tr><th>scan of</th><th>files read</th><th>bytes read</th></tr>{rows}</table>"


@overload
def explain_skipping(query: str | DataFrame, /, *, analyze: bool = ...) -> SkippingExplanation: ...


@overload
def explain_skipping(spark: Session, query: str | DataFrame, *, analyze: bool = ...) -> SkippingExplanation: ...


def explain_skipping(
    spark: Session | DataFrame | str, query: str | DataFrame | None = None, *, analyze: bool = False
) -> SkippingExplanation:
    """Show how many files a query reads and skips: `EXPLAIN SKIPPING`. It reads no data without `analyze`.

    Args:
        spark: The session. Without it, a DataFrame's own session, and the active one for SQL.
        query: A query in SQL, or a DataFrame of this session. Both may be of Spark Connect.
        analyze: Run the query: `EXPLAIN SKIPPING ANALYZE`. Then it also says how many files were read in vain.

    Returns:
        What each scan of files reads. Its `df` has a row for each: `scan`, `relation`, `files_total`, `files_kept`,
            `bytes_total`, `bytes_kept`, `pruning_ms`, `conjuncts`. `.plot()` draws the files, and `.files()` lists
            them.

    Raises:
        TypeError: The query is neither SQL nor a DataFrame.
        RuntimeError: The query is SQL, no session is given, and none is active in this thread.

    Examples:
        >>> from spark_zorder import explain_skipping
        >>> result = events.optimize(["user", "day"], num_files=16)
        >>> explained = explain_skipping("SELECT * FROM events WHERE user = 7 AND day = 3")
        >>> explained.files_kept, explained.files_total
        (1, 16)
        >>> explain_skipping(spark.table("events").where("user = 7")).files_kept
        4
    """
    session, asked = _asked(spark, query)
    df = _explain(session, "EXPLAIN SKIPPING ANALYZE" if analyze else "EXPLAIN SKIPPING", asked)
    return SkippingExplanation(tuple(map(ScanSkipping.of, df.collect())), df, session, asked)


def _asked(first: Session | DataFrame | str, second: str | DataFrame | None) -> tuple[Session, str | DataFrame]:
    """The session and the query of a call with one or two arguments."""
    if isinstance(first, str) and second is None:
        return _active_session(), first
    if second is None and hasattr(first, "sparkSession"):
        frame = cast("DataFrame", first)
        return frame.sparkSession, frame
    if second is None:
        raise TypeError("explain_skipping takes a query in SQL or a DataFrame, or a session and one of them")
    if not isinstance(second, str) and not hasattr(second, "createTempView"):
        raise TypeError(f"the query is of type {type(second).__name__}, and must be SQL text or a DataFrame")
    return cast("Session", first), second


def _active_session() -> Session:
    from pyspark.sql import SparkSession

    session = SparkSession.getActiveSession()
    if session is None:
        raise RuntimeError("no session is active in this thread: write explain_skipping(spark, query)")
    return session


def _explain(spark: Session, statement: str, query: str | DataFrame) -> DataFrame:
    if isinstance(query, str):
        return run(spark, f"{statement} {query.strip().removesuffix(';')}")
    name = f"explained_{uuid.uuid4().hex}"
    query.createTempView(name)
    try:
        return run(spark, f"{statement} SELECT * FROM {name}")
    finally:
        spark.sql(f"DROP VIEW {name}")


def _sum(numbers: Iterable[int | None]) -> int | None:
    known = list(numbers)
    found = [n for n in known if n is not None]
    return sum(found) if len(found) == len(known) else None


def _share(part: int | None, whole: int | None, words: Callable[[int], str]) -> str:
    return "not known before it runs" if part is None or whole is None else f"{words(part)} of {words(whole)}"
