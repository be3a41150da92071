"""What the commands over many tables print: a table, lines while they work, and objects."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, TextIO

from spark_zorder._cli.nightly_outcome import Outcome, Watcher
from spark_zorder.sizes import size_text

if TYPE_CHECKING:
    from pyspark.sql import Row

_HEAD = ("TABLE", "STATE", "FILES", "SIZE", "SMALL", "LAYOUT", "LOOKUP", "BEST", "NEW", "TRASH", "LAST OPTIMIZE")


def say(text: str, stream: TextIO | None = None, end: str = "\n") -> None:
    """Print. If the reader is gone, as after `| head`, this and all later output is lost, and the work goes on."""
    stream = sys.stdout if stream is None else stream
    try:
        print(text, file=stream, end=end, flush=True)
    except BrokenPipeError:
        # Python would fail again when it flushes the stream at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    except UnicodeEncodeError:
        coding = stream.encoding or "ascii"
        print(text.encode(coding, "replace").decode(coding), file=stream, end=end, flush=True)


class Progress(Watcher):
    """A line for each table. A terminal also shows the table at work.

    Args:
        stream: Where to.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._shows = stream.isatty()

    def begin(self, number: int, of: int, row: Row) -> None:
        """Show the table that is begun."""
        if self._shows:
            size = "" if row.new_bytes is None else f" ({size_text(row.new_bytes)} of new files)"
            say(f"\r\x1b[K[{number}/{of}] {row.table}{size} ..", self._stream, end="")

    def end(self, number: int, of: int, outcome: Outcome) -> None:
        """Print what became of it."""
        over = "\r\x1b[K" if self._shows else ""
        say(f"{over}[{number}/{of}] {outcome.table}: {outcome.outcome}. {outcome.message}", self._stream)


def status_table(rows: list[Row]) -> str:
    """The rows of `SHOW CLUSTERING` for people."""
    return table([_HEAD, *map(_cells, rows)])


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows of cells, in columns of the same width."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def _cells(row: Row) -> tuple[str, ...]:
    last = "" if row.last_optimize is None else f"{row.last_optimize:%Y-%m-%d %H:%M}"
    return (
        row.table,
        row.state,
        _number(row.files),
        _size(row.bytes),
        _number(row.small_files),
        row.layout or "",
        _number(row.mean_files),
        _number(row.bound_files),
        _size(row.new_bytes),
        _size(row.trash_bytes),
        last,
    )


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}".removesuffix(".0")


def _size(size: int | None) -> str:
    return "" if size is None else size_text(size)
