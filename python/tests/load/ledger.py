"""Which batches a table has, as its appenders say it: before they begin one, and when it is complete."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Ledger:
    """A file for each appender of a table. It is read while it grows.

    A query that starts now must find all batches that are complete now, each of them whole. When it has ended, it may
    also have found batches that were begun by then, each of them whole or not at all.
    """

    def __init__(self, folder: Path, appender: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._own = folder / appender

    @contextmanager
    def appending(self, batch: int) -> Iterator[None]:
        """Say that a batch begins, and that it is complete unless an error came."""
        self._say(f"begin {batch}")
        yield
        self._say(f"end {batch}")

    def complete(self) -> frozenset[int]:
        """Batches that every query must find."""
        return self._read("end")

    def begun(self) -> frozenset[int]:
        """Batches that a query may have found."""
        return self._read("begin")

    def _say(self, line: str) -> None:
        with self._own.open("a") as file:
            file.write(line + "\n")

    def _read(self, word: str) -> frozenset[int]:
        # The last line may be half written.
        lines = [line for file in self._folder.iterdir() for line in file.read_text().split("\n")[:-1]]
        return frozenset(int(line.split()[1]) for line in lines if line.split()[0] == word)
