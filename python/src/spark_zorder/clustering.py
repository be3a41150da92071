"""How a table's files lie in its columns, at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Row


@dataclass(frozen=True)
class ColumnDepth:
    """How many files a lookup of one value reads; a row of `DESCRIBE CLUSTERING`.

    Attributes:
        column: The column's name, fields of structs with dots.
        files: Files of the table.
        mean_files: Files whose bounds hold the value of a row drawn at random, on average.
        max_files: The most files that hold one value.
        bound_files: The least mean that so many files can have for each of the columns asked for.
        histogram: Rows, about, whose value 0, 1, .. `max_files` files hold.
    """

    column: str
    files: int
    mean_files: float
    max_files: int
    bound_files: float
    histogram: tuple[int, ...]

    @classmethod
    def of(cls, row: Row) -> ColumnDepth:
        """From a row of the statement."""
        histogram = tuple(row.depth_histogram)
        return cls(row.column, row.files, row.mean_files, row.max_files, row.bound_files, histogram)


@dataclass(frozen=True)
class FileRange:
    """The least and the greatest value of a column in a file, as text."""

    path: str
    column: str
    data_type: str
    low: str
    high: str

    @classmethod
    def all_of(cls, rows: Iterable[Row]) -> tuple[FileRange, ...]:
        """From rows of `DESCRIBE SKIPPING INDEX`; one without bounds has no range."""
        return tuple(cls(r.path, r.column, r.data_type, r.min, r.max) for r in rows if r.min is not None)


@dataclass(frozen=True)
class Clustering:
    """What `ZOrderTable.clustering` found.

    Attributes:
        target: The table, as it stands in statements.
        columns: A depth for each column.
        ranges: Of the columns' files that the skipping index knows. None where the table has no index.
    """

    target: str
    columns: tuple[ColumnDepth, ...]
    ranges: tuple[FileRange, ...] | None

    def depth(self, column: str) -> ColumnDepth | None:
        """The depth of a column, None when it was not asked for."""
        return next((c for c in self.columns if c.column == column), None)

    def ranges_of(self, column: str) -> dict[str, FileRange]:
        """The ranges of a column by the files' paths."""
        return {r.path: r for r in self.ranges or () if r.column == column}


def positions(texts: Iterable[str], data_type: str) -> Mapping[str, float]:
    """Where values stand on an axis: numbers and times by their value, all else by their rank among each other.

    Args:
        texts: Values as `DESCRIBE SKIPPING INDEX` writes them.
        data_type: Their type in SQL.
    """
    distinct = set(texts)
    try:
        return {text: _number(text, data_type) for text in distinct}
    except ValueError:
        return {text: float(rank) for rank, text in enumerate(sorted(distinct, key=str.encode))}


def is_measured(data_type: str) -> bool:
    """Whether values of a type have places on an axis by their value."""
    return data_type in _NUMBERS or data_type.startswith("DECIMAL") or data_type in _TIMES


_NUMBERS = {"TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE"}
_TIMES = {"DATE", "TIMESTAMP", "TIMESTAMP_NTZ"}


def _number(text: str, data_type: str) -> float:
    if data_type == "DATE":
        return float(date.fromisoformat(text).toordinal())
    if data_type in _TIMES:
        moment = datetime.fromisoformat(text)
        return (
            moment.toordinal() + (moment - datetime.combine(moment.date(), datetime.min.time())).total_seconds() / 86400
        )
    if is_measured(data_type):
        return float(text)
    raise ValueError(data_type)
