"""The output of `make fuzz`."""

from __future__ import annotations

import sys
import time

from fuzz.campaign import Tally


class Report:
    """Prints lines, and in a terminal a bar below them."""

    def __init__(self, seconds: float) -> None:
        self._began = time.monotonic()
        self._seconds = seconds
        self._bar = ""

    def line(self, text: str) -> None:
        """Print a line that stays."""
        self._clear()
        print(text, flush=True)

    def progress(self, tally: Tally) -> None:
        """Show the progress in a terminal."""
        if not sys.stdout.isatty():
            return
        self._clear()
        done = min((time.monotonic() - self._began) / max(self._seconds, 1), 1.0)
        self._bar = f"[{'#' * int(done * 30):30}] {tally.queries:,} queries, {len(tally.mismatches)} mismatches"
        print(self._bar, end="", flush=True)

    def end(self, tally: Tally) -> None:
        """Print the mismatches again, and the figures as the last line."""
        self._clear()
        for mismatch in tally.mismatches:
            print(mismatch)
        print(tally.summary())

    def _clear(self) -> None:
        if self._bar:
            print("\r" + " " * len(self._bar) + "\r", end="")
            self._bar = ""
