"""Looks after many tables: finds those that an `OPTIMIZE` would gain most for, and optimizes them within a budget."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from spark_zorder._cli.nightly_outcome import Outcome, Selected, Watcher
from spark_zorder._cli.nightly_session import is_alive, words_of
from spark_zorder.errors import ToolError, condition_of, errors_of_spark
from spark_zorder.names import quote, quote_name
from spark_zorder.shows import show_clustering
from spark_zorder.table import ZOrderTable

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_ENABLED = "zorder.maintenance.enabled"
_BUSY = ("ZORDER_CONCURRENT_OPERATION",)
_HALF_DONE = ("ZORDER_OPERATION_FAILED.HALF_WAY", "ZORDER_TABLE_UNCLEAR.RECOVERY", "ZORDER_COMMIT_CONFLICT")
_GONE = "it was dropped or renamed meanwhile"


def states(spark: SparkSession, selected: Selected) -> list[Row]:
    """The rows of `SHOW CLUSTERING` for all selected tables, first those that an `OPTIMIZE` would gain most for.

    Raises:
        ToolError: There is no table of one of the names.
    """
    wanted = {_plain(name) for name in selected.tables}
    found: dict[str, Row] = {}
    for schema in _schemas(selected.schemas, wanted):
        found |= {row.table.lower(): row for row in show_clustering(spark, schema).collect()}
    rows = list(found.values())
    if wanted:
        missing = sorted(wanted.difference(*map(_names, rows)))
        if missing:
            raise ToolError(f"there is no table {', '.join(missing)}")
        rows = [row for row in rows if _names(row) & wanted]
    return sorted(rows, key=lambda row: -1 if row.gain_bytes is None else row.gain_bytes, reverse=True)


def checked(spark: SparkSession, rows: Sequence[Row]) -> list[Row]:
    """Look into the footers of all tables that need an `OPTIMIZE`: with `DRY RUN`, which reads what `OPTIMIZE` reads.

    Returns:
        The same rows. If `OPTIMIZE` would fail, `state` has the reason.
    """
    found = []
    for row in rows:
        if _needs(row) and not row.state.startswith("locked"):
            outcome = _maintained(spark, row, lambda table: _optimized(table, dry_run=True))
            if outcome.outcome == "failed":
                row = type(row)(**{**row.asDict(), "state": f"error: {outcome.message}"})
        found.append(row)
    return found


def _plain(name: str) -> str:
    """A name as `SHOW CLUSTERING` writes it, in small letters."""
    return name.replace("`", "").lower().removeprefix("spark_catalog.")


def _names(row: Row) -> set[str]:
    """A table's name with and without its database."""
    name = row.table.lower()
    return {name, name.partition(".")[2] or name}


def _schemas(named: Sequence[str], tables: set[str]) -> list[str | None]:
    """The databases to look into. None is the current one."""
    if named:
        return list(named)
    of_tables = {name.partition(".")[0] if "." in name else None for name in tables}
    return sorted(of_tables, key=str) or [None]


def optimize(
    spark: SparkSession,
    selected: Selected,
    *,
    seconds: float | None = None,
    max_bytes: int | None = None,
    dry_run: bool = False,
    progress: Watcher | None = None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Outcome]:
    """Optimize the tables that need it, most gain for each byte first.

    Args:
        spark: The session.
        selected: The tables.
        seconds: No table is begun after so many.
        max_bytes: Tables are left out once so many bytes of new files are rewritten.
        dry_run: Only say what each `OPTIMIZE` would do.
        progress: Is told of each table.
        clock: Seconds that only grow.
    """
    begun = clock()
    rows = states(spark, selected)
    needy = sorted((row for row in rows if _needs(row)), key=_gain_of_byte, reverse=True)
    taken = 0

    def work(row: Row) -> Outcome:
        nonlocal taken
        if seconds is not None and clock() - begun >= seconds:
            return Outcome(row.table, "skipped", "the time is up")
        if max_bytes is not None and taken + row.new_bytes > max_bytes:
            return Outcome(row.table, "skipped", "the bytes are used up")
        outcome = _maintained(spark, row, lambda table: _optimized(table, dry_run))
        taken += row.new_bytes if outcome.outcome in ("optimized", "foreseen") else 0
        return outcome

    outcomes = _all(spark, needy, work, progress)
    return outcomes + [_broken(spark, row) for row in rows if row.state.startswith("error: ")]


def vacuum(
    spark: SparkSession,
    selected: Selected,
    *,
    retain_hours: float | None = None,
    dry_run: bool = False,
    progress: Watcher | None = None,
) -> list[Outcome]:
    """Delete replaced files of all tables that have some, as `VACUUM` does."""
    rows = [row for row in states(spark, selected) if row.trash_bytes]
    vacuumed = functools.partial(_vacuumed, retain_hours=retain_hours, dry_run=dry_run)
    return _all(spark, rows, lambda row: _maintained(spark, row, vacuumed), progress)


def _all(
    spark: SparkSession, rows: list[Row], work: Callable[[Row], Outcome], progress: Watcher | None
) -> list[Outcome]:
    """Work on each table. Once the session is gone, the rest fails without a try."""
    progress = progress or Watcher()
    outcomes: list[Outcome] = []
    lost = False
    for number, row in enumerate(rows, 1):
        progress.begin(number, len(rows), row)
        outcome = Outcome(row.table, "failed", "the session ended") if lost else work(row)
        lost = lost or (outcome.outcome == "failed" and not is_alive(spark))
        outcomes.append(outcome)
        progress.end(number, len(rows), outcome)
    return outcomes


def _needs(row: Row) -> bool:
    is_gain = bool(row.files and row.new_bytes and row.gain_bytes)
    return is_gain or bool(row.stale_appends) or row.state.startswith("half published")


def _gain_of_byte(row: Row) -> float:
    return float(row.gain_bytes / max(1, row.new_bytes))


def _maintained(spark: SparkSession, row: Row, work: Callable[[ZOrderTable], tuple[str, str]]) -> Outcome:
    if row.state.startswith("locked"):
        return Outcome(row.table, "locked", row.state)
    begun = time.monotonic()
    try:
        if not _is_enabled(spark, row.table):
            return Outcome(row.table, "skipped", f"its property {_ENABLED} says so")
        outcome, message = work(ZOrderTable(spark, _quoted(row.table)))
    except errors_of_spark() as error:
        outcome, message = _why(spark, row, error)
    return Outcome(row.table, outcome, message, round(time.monotonic() - begun, 3))


def _why(spark: SparkSession, row: Row, error: Exception) -> tuple[str, str]:
    if condition_of(error) in _BUSY:
        return "locked", words_of(error)
    if not _is_gone(spark, row):
        return "failed", words_of(error)
    if condition_of(error) in _HALF_DONE:
        # If it was renamed, it is still there under its other name, and half published.
        return "failed", f"{_GONE}, and the statement ended half way: {words_of(error)}"
    return "skipped", _GONE


def _broken(spark: SparkSession, row: Row) -> Outcome:
    """What became of a table that could not be looked at."""
    return Outcome(row.table, "skipped", _GONE) if _is_gone(spark, row) else Outcome(row.table, "failed", row.state)


def _is_gone(spark: SparkSession, row: Row) -> bool:
    try:
        return not spark.catalog.tableExists(_quoted(row.table))
    except errors_of_spark():
        # The error that led here says more.
        return False


def _optimized(table: ZOrderTable, dry_run: bool) -> tuple[str, str]:
    result = table.optimize(dry_run=dry_run)
    done = "foreseen" if dry_run else "optimized"
    return (done if result.files_removed else "nothing"), result.summary


def _vacuumed(table: ZOrderTable, retain_hours: float | None, dry_run: bool) -> tuple[str, str]:
    result = table.vacuum(retain_hours, dry_run=dry_run)
    return ("foreseen" if dry_run else "vacuumed"), result.summary


def _is_enabled(spark: SparkSession, table: str) -> bool:
    properties = spark.sql(f"SHOW TBLPROPERTIES {_quoted(table)}").collect()
    return not any(row.key == _ENABLED and row.value.strip().lower() == "false" for row in properties)


def _quoted(table: str) -> str:
    """A name of `SHOW CLUSTERING`: the database, a dot, the name. Either may have dots only in backquotes."""
    database, _, name = table.partition(".")
    return f"{quote(database)}.{quote(name)}" if name else quote_name(table)
