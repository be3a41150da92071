"""The tables that a command is about, and what became of each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from spark_zorder._cli.tool import DONE, FAILED, LOCKED

if TYPE_CHECKING:
    from pyspark.sql import Row

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
    "stale_appends",
)
"""What is told of each table, in this order."""


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


class Watcher:
    """Is told of each table that a command begins and ends. This one does nothing."""

    def begin(self, number: int, of: int, row: Row) -> None:
        """A table is begun.

        Args:
            number: Its number, from 1.
            of: The number of tables.
            row: What `SHOW CLUSTERING` said of it.
        """

    def end(self, number: int, of: int, outcome: Outcome) -> None:
        """A table is done."""


def told(row: Row) -> dict[str, Any]:
    """A row as it is printed as JSON."""
    found = {name: row[name] for name in COLUMNS}
    last = found["last_optimize"]
    return found | {"last_optimize": None if last is None else last.isoformat()}


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
