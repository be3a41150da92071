"""A progress bar for statements, where the JVM cannot draw one: in notebooks and over Spark Connect."""

from __future__ import annotations

import html
import logging
import shutil
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pyspark.sql import Row

    from spark_zorder.statements import Session

_LOG = logging.getLogger(__name__)
_SETTING = "spark.zorder.progress.enabled"

# The server is asked after so many seconds, and then less and less often.
_FIRST = 1.0
_LONGEST = 5.0
_SIZE = (100, 24)
_CELLS = 24
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB")


class Display(Protocol):
    """Where a bar is drawn."""

    def draw(self, row: Row) -> None:
        """Draw the bar in place of the last one."""

    def clear(self) -> None:
        """Remove the bar."""


class TerminalDisplay:
    """One line of a terminal, drawn again and again."""

    def __init__(self) -> None:
        self._length = 0

    def draw(self, row: Row) -> None:
        """Draw the bar in place of the last one."""
        full = int(row.fraction * (_CELLS - 1))
        bar = "=" * full + ">" + " " * (_CELLS - 1 - full)
        # A line that fills the terminal's last column would begin another one.
        width = shutil.get_terminal_size(_SIZE).columns - 1
        rest = f" [{bar}] {describe(row)}"
        text = (_cut(f"{row.operation} {row.table}", width - len(rest)) + rest)[:width]
        sys.stderr.write("\r" + text.ljust(self._length))
        sys.stderr.flush()
        self._length = len(text)

    def clear(self) -> None:
        """Remove the bar."""
        if self._length:
            sys.stderr.write("\r" + " " * self._length + "\r")
            sys.stderr.flush()


class NotebookDisplay:
    """An output of a notebook's cell, drawn again and again."""

    def __init__(self) -> None:
        self._handle = None

    def draw(self, row: Row) -> None:
        """Draw the bar in place of the last one."""
        from IPython.display import HTML, display

        picture = HTML(
            f"<div>{html.escape(f'{row.operation} {row.table}')} "
            f'<progress value="{row.fraction:.3f}" max="1"></progress> {html.escape(describe(row))}</div>'
        )
        if self._handle is None:
            self._handle = display(picture, display_id=True)
        else:
            self._handle.update(picture)

    def clear(self) -> None:
        """Remove the bar."""
        from IPython.display import HTML

        if self._handle is not None:
            self._handle.update(HTML(""))


def describe(row: Row) -> str:
    """A row of `SHOW OPERATIONS` in words, such as `45 % writing, 12/24 files, 600.0 MiB of 1.2 GiB, 50 s left`."""
    words = [f"{int(row.fraction * 100)} % {row.step}"]
    if row.total_files:
        words.append(f"{row.files}/{row.total_files} files")
    if row.total_bytes:
        words.append(f"{_bytes(row.bytes)} of {_bytes(row.total_bytes)}")
    if row.seconds_left is not None:
        words.append(f"{_seconds(row.seconds_left)} left")
    return ", ".join(words)


def _cut(name: str, width: int) -> str:
    return name if len(name) <= width else name[: max(0, width - 1)] + "…"


def _bytes(size: float) -> str:
    unit = 0
    while size >= 1024 and unit < len(_UNITS) - 1:
        size, unit = size / 1024, unit + 1
    return f"{size:.1f} {_UNITS[unit]}" if unit else f"{size:.0f} B"


def _seconds(seconds: float) -> str:
    return f"{max(1, round(seconds))} s" if seconds < 120 else f"{seconds / 60:.0f} min"


@contextmanager
def shown(spark: Session, operation: str) -> Iterator[None]:
    """Show the progress of a statement that runs in the block, unless the JVM does it or the session is silent."""
    display = _display(spark)
    if display is None or not _is_enabled(spark):
        yield
        return
    ended = threading.Event()
    watcher = threading.Thread(target=_watch, args=(spark, operation, display, ended), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        ended.set()
        watcher.join()
        display.clear()


def _display(spark: Session) -> Display | None:
    if _in_notebook():
        return NotebookDisplay()
    # A classic session has its JVM on this machine, which draws on the same terminal.
    is_connect = type(spark).__module__.startswith("pyspark.sql.connect")
    return TerminalDisplay() if is_connect and sys.stderr.isatty() else None


def _in_notebook() -> bool:
    if "IPython" not in sys.modules:
        return False
    from IPython import get_ipython

    # The shell of a terminal has no kernel.
    return getattr(get_ipython(), "kernel", None) is not None


def _is_enabled(spark: Session) -> bool:
    value: str = spark.sql(f"SET {_SETTING}").collect()[0].value
    return value.lower() != "false"


def _watch(spark: Session, operation: str, display: Display, ended: threading.Event) -> None:
    started = time.monotonic()
    pause = _FIRST
    while not ended.wait(pause):
        pause = min(pause * 1.5, _LONGEST)
        try:
            rows = [row for row in spark.sql("SHOW OPERATIONS").collect() if row.operation == operation]
        # The statement must not fail for a picture, and its own error says more than this one.
        except Exception:
            _LOG.debug("cannot ask for the progress", exc_info=True)
            return
        if rows and not ended.is_set():
            elapsed = time.monotonic() - started
            # Another thread of the session may run the same operation.
            display.draw(min(rows, key=lambda row: abs(row.seconds - elapsed)))
