"""How well a table's files are clustered by its columns, at one moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import Row


@dataclass(frozen=True)
class ColumnDepth:
    """The number of files that a lookup of one value reads: a row of `DESCRIBE CLUSTERING`.

    A file may hold a value if the value is within the file's bounds.

    Attributes:
        column: The name of the column. A field of a struct has dots in its name.
        files: The number of the table's files.
        mean_files: How many files may hold the value of a random row, on average.
        max_files: How many files may hold a value, at most.
        bound_files: The least `mean_files` of so many files for all described columns alike, as far as bounds tell.
        histogram: At position `n`, about how many rows have a value that `n` files may hold.

    Examples:
        >>> events.clustering("user").depth("user")
        ColumnDepth(column='user', files=8, mean_files=8.0, max_files=8, bound_files=1.0,
            histogram=(0, 0, 0, 0, 0, 0, 0, 0, 4096))
    """

    column: str
    files: int
    mean_files: float
    max_files: int
    bound_files: float
    histogram: tuple[int, ...]

    @classmethod
    def of(cls, row: Row) -> ColumnDepth:
        """Make a depth of a row of `DESCRIBE CLUSTERING`.

        Examples:
            >>> [row] = events.describe_clustering("day").collect()
            >>> ColumnDepth.of(row).mean_files
            8.0
        """
        histogram = tuple(row.depth_histogram)
        return cls(row.column, row.files, row.mean_files, row.max_files, row.bound_files, histogram)


@dataclass(frozen=True)
class FileRange:
    """The bounds of a column in one file: a row of `DESCRIBE SKIPPING INDEX`.

    Attributes:
        path: The file, relative to the table's folder.
        column: The name of the column. A field of a struct has dots in its name.
        data_type: The column's type in SQL.
        low: The least value, as text.
        high: The greatest value, as text.

    Examples:
        >>> result = events.optimize(["user", "day"], options={"num-files": 16})
        >>> ranges = events.clustering("user").ranges
        >>> len(ranges), ranges[0].data_type, ranges[0].low
        (16, 'BIGINT', '0')
    """

    path: str
    column: str
    data_type: str
    low: str
    high: str

    @classmethod
    def all_of(cls, rows: Iterable[Row]) -> tuple[FileRange, ...]:
        """Make ranges of rows of `DESCRIBE SKIPPING INDEX`. Rows without bounds are left out.

        Examples:
            >>> result = events.create_skipping_index("user")
            >>> len(FileRange.all_of(events.describe_skipping_index().collect()))
            8
        """
        return tuple(cls(r.path, r.column, r.data_type, r.min, r.max) for r in rows if r.min is not None)


@dataclass(frozen=True)
class Clustering:
    """The result of `ZOrderTable.clustering`.

    Attributes:
        target: The table, as statements name it.
        columns: A depth for each column.
        ranges: The bounds of these columns in each file that the skipping index knows. None without an index.

    Examples:
        >>> before = events.clustering("user", "day")
        >>> result = events.optimize(["user", "day"], options={"num-files": 16})
        >>> for depth in before.columns + events.clustering("user", "day").columns:
        ...     print(f"{depth.column}: {depth.mean_files:.0f} of {depth.files} files")
        user: 8 of 8 files
        day: 8 of 8 files
        user: 4 of 16 files
        day: 4 of 16 files
    """

    target: str
    columns: tuple[ColumnDepth, ...]
    ranges: tuple[FileRange, ...] | None

    def depth(self, column: str) -> ColumnDepth | None:
        """The depth of a column. None for a column that was not described.

        Examples:
            >>> events.clustering("user").depth("user").max_files
            8
        """
        return next((c for c in self.columns if c.column == column), None)

    def ranges_of(self, column: str) -> dict[str, FileRange]:
        """The ranges of a column by the paths of the files.

        Examples:
            >>> result = events.create_skipping_index("user")
            >>> len(events.clustering("user").ranges_of("user"))
            8
        """
        return {r.path: r for r in self.ranges or () if r.column == column}


def positions(texts: Iterable[str], data_type: str) -> Mapping[str, float]:
    """The positions of values on an axis. Numbers and times are placed by value, all others by rank.

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
    """Whether values of this type are placed on an axis by value."""
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
