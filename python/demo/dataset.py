"""What a data set of the demo has to say."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from progress import Steps
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Question:
    """A question in words, and the rows that answer it as a predicate in SQL."""

    words: str
    predicate: str


class Dataset(Protocol):
    """A table to write, what to cluster it by and what to ask it."""

    @property
    def title(self) -> str:
        """What it is, for a heading."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns to cluster by."""

    @property
    def files(self) -> int:
        """How many files OPTIMIZE is to write."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """Five, each about other columns."""

    def write(self, folder: Path, spark: SparkSession, steps: Steps) -> int:
        """Write the table as plain Parquet files into an empty folder; the number of rows."""
