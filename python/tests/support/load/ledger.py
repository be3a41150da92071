"""The batches of a table. Its appenders note each batch before they begin it and when it is complete."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Ledger:
    """A file for each appender of a table. It is read while it grows.

    A query that starts now must find all batches that are complete now. When it has ended, it may also have found
    batches that began before its end. Each of them is there as a whole or not at all.
    """

    def __init__(self, folder: Path, appender: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._own = folder / appender

    @contextmanager
    def appending(self, batch: int) -> Iterator[None]:
        """Note that a batch begins, and that it is complete unless there is an error."""
        self._say(f"begin {batch}")
        yield
        self._say(f"end {batch}")

    def complete(self) -> frozenset[int]:
        """Batches that every query must find."""
        return self._read("end")

    def begun(self) -> frozenset[int]:
        """Batches that a query may find."""
        return self._read("begin")

    def _say(self, line: str) -> None:
        with self._own.open("a") as file:
            file.write(line + "\n")

    def _read(self, word: str) -> frozenset[int]:
        # The last line may be incomplete.
        lines = [line for file in self._folder.iterdir() for line in file.read_text().split("\n")[:-1]]
        return frozenset(int(line.split()[1]) for line in lines if line.split()[0] == word)
