"""Looks after many tables: finds those that an `OPTIMIZE` would gain most for, and optimizes them within a budget."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from spark_zorder.errors import ToolError, condition_of, errors_of_spark
from spark_zorder.names import quote, quote_name
from spark_zorder.table import ZOrderTable, show_clustering
from spark_zorder.tool import DONE, FAILED, LOCKED

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

COLUMNS = (
    "table",
    "format",
    "state",
    "files",
    "bytes",
    "small_files",
    "layout",
    "mean_files",
    "bound_files",
    "new_bytes",
    "drift",
    "trash_bytes",
    "last_optimize",
)
"""What is told of each table, in this order."""

_ENABLED = "zorder.maintenance.enabled"
_BUSY = ("ZORDER_CONCURRENT_OPERATION",)


@dataclass(frozen=True)
class Selected:
    """The tables that a command is about.

    Attributes:
        schemas: Databases; empty for the current one.
        tables: Names of tables, with or without their database; empty for all.
    """

    schemas: Sequence[str] = ()
    tables: Sequence[str] = ()


@dataclass(frozen=True)
class Outcome:
    """What became of a table.

    Attributes:
        table: Its name.
        outcome: `optimized`, `vacuumed`, `nothing`, `foreseen`, `locked`, `failed` or `skipped`.
        message: In words.
        seconds: How long it took.
    """

    table: str
    outcome: str
    message: str
    seconds: float = 0.0


def states(spark: SparkSession, selected: Selected) -> list[Row]:
    """The rows of `SHOW CLUSTERING` for all selected tables, first those that an `OPTIMIZE` would gain most for.

    Raises:
        ToolError: There is no table of one of the names.
    """
    wanted = {name.replace("`", "").lower() for name in selected.tables}
    rows: list[Row] = []
    for schema in _schemas(selected.schemas, wanted):
        rows += show_clustering(spark, schema).collect()
    if wanted:
        missing = sorted(wanted.difference(*map(_names, rows)))
        if missing:
            raise ToolError(f"there is no table {', '.join(missing)}")
        rows = [row for row in rows if _names(row) & wanted]
    return sorted(rows, key=lambda row: -1 if row.gain_bytes is None else row.gain_bytes, reverse=True)


def _names(row: Row) -> set[str]:
    """A table's name with and without its database."""
    name = row.table.lower()
    return {name, name.split(".")[-1]}


def _schemas(named: Sequence[str], tables: set[str]) -> list[str | None]:
    """The databases to look into. None is the current one."""
    if named:
        return list(named)
    of_tables = {name.partition(".")[0] if "." in name else None for name in tables}
    return sorted(of_tables, key=str) or [None]


def told(row: Row) -> dict[str, Any]:
    """A row as it is printed as JSON."""
    found = {name: row[name] for name in COLUMNS}
    last = found["last_optimize"]
    return found | {"last_optimize": None if last is None else last.isoformat()}


def optimize(
    spark: SparkSession,
    selected: Selected,
    *,
    seconds: float | None = None,
    max_bytes: int | None = None,
    dry_run: bool = False,
    report: Callable[[int, int, Outcome], None] = lambda number, of, outcome: None,
    clock: Callable[[], float] = time.monotonic,
) -> list[Outcome]:
    """Optimize the tables that need it, most gain for each byte first.

    Args:
        spark: The session.
        selected: The tables.
        seconds: No table is begun after so many.
        max_bytes: Tables are left out once so many bytes of new files are rewritten.
        dry_run: Only say what each `OPTIMIZE` would do.
        report: Called after each table with its number, the number of tables, and what became of it.
        clock: Seconds that only grow.
    """
    begun = clock()
    rows = states(spark, selected)
    needy = sorted((row for row in rows if _needs(row)), key=_gain_of_byte, reverse=True)
    taken = 0
    outcomes: list[Outcome] = []
    for number, row in enumerate(needy, 1):
        if seconds is not None and clock() - begun >= seconds:
            outcome = Outcome(row.table, "skipped", "the time is up")
        elif max_bytes is not None and taken + row.new_bytes > max_bytes:
            outcome = Outcome(row.table, "skipped", "the bytes are used up")
        else:
            outcome = _maintained(spark, row, lambda table: _optimized(table, dry_run))
            taken += row.new_bytes if outcome.outcome in ("optimized", "foreseen") else 0
        outcomes.append(outcome)
        report(number, len(needy), outcome)
    return outcomes + [Outcome(row.table, "failed", row.state) for row in rows if row.state.startswith("error: ")]


def vacuum(
    spark: SparkSession,
    selected: Selected,
    *,
    retain_hours: float | None = None,
    dry_run: bool = False,
    report: Callable[[int, int, Outcome], None] = lambda number, of, outcome: None,
) -> list[Outcome]:
    """Delete replaced files of all tables that have some, as `VACUUM` does."""
    rows = [row for row in states(spark, selected) if row.trash_bytes]
    outcomes: list[Outcome] = []
    for number, row in enumerate(rows, 1):
        outcomes.append(_maintained(spark, row, lambda table: _vacuumed(table, retain_hours, dry_run)))
        report(number, len(rows), outcomes[-1])
    return outcomes


def exit_code(outcomes: Iterable[Outcome]) -> int:
    """0 for success or nothing to do, 1 if a table failed, 3 if all that had to be done was locked."""
    kinds = [outcome.outcome for outcome in outcomes]
    if "failed" in kinds:
        return FAILED
    tried = [kind for kind in kinds if kind != "skipped"]
    return LOCKED if tried and all(kind == "locked" for kind in tried) else DONE


def as_json(outcome: Outcome) -> dict[str, Any]:
    """An outcome as it is printed as JSON."""
    return asdict(outcome)


def _needs(row: Row) -> bool:
    return bool(row.files and row.new_bytes and row.gain_bytes)


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
        kind = "locked" if condition_of(error) in _BUSY else "failed"
        outcome, message = kind, str(error).strip().splitlines()[0]
    return Outcome(row.table, outcome, message, round(time.monotonic() - begun, 3))


def _optimized(table: ZOrderTable, dry_run: bool) -> tuple[str, str]:
    result = table.optimize(dry_run=dry_run)
    done = "foreseen" if dry_run else "optimized"
    return (done if result.files_removed else "nothing"), result.text


def _vacuumed(table: ZOrderTable, retain_hours: float | None, dry_run: bool) -> tuple[str, str]:
    gone = table.vacuum(retain_hours, dry_run=dry_run).collect()
    if dry_run:
        return "foreseen", f"{len(gone)} files would go"
    return "vacuumed", "retired files that are old enough are deleted"


def _is_enabled(spark: SparkSession, table: str) -> bool:
    properties = spark.sql(f"SHOW TBLPROPERTIES {_quoted(table)}").collect()
    return not any(row.key == _ENABLED and row.value.strip().lower() == "false" for row in properties)


def _quoted(table: str) -> str:
    """A name of `SHOW CLUSTERING`: the database, a dot, the name. Either may have dots only in backquotes."""
    database, _, name = table.partition(".")
    return f"{quote(database)}.{quote(name)}" if name else quote_name(table)
