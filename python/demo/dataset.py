"""The interface of the demo's data sets."""

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
    """A table to write, its keys, and questions about it."""

    @property
    def title(self) -> str:
        """The name of the data, for a heading."""

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns to cluster by."""

    @property
    def files(self) -> int:
        """The number of files that OPTIMIZE is asked for."""

    @property
    def values(self) -> tuple[str, ...]:
        """The columns whose values the index keeps for each file."""

    @property
    def questions(self) -> tuple[Question, ...]:
        """Five questions about the keys, alone and together, and about one of the values."""

    def write(self, folder: Path, spark: SparkSession, steps: Steps) -> int:
        """Write the table as plain Parquet files into an empty folder. Returns the number of rows."""
