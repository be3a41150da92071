"""The results of the statements that change a table, for people and for programs."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from spark_zorder.sizes import size_text

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

# The end of a sentence, outside of backquotes.
_END = re.compile(r"(?<=\.) (?=(?:[^`]*`[^`]*`)*[^`]*$)")


@dataclass(frozen=True, repr=False)
class OptimizeResult:
    """What an `OPTIMIZE` did, or would do. Printed, it is a few sentences. A notebook shows a table, too.

    Attributes:
        summary: What the statement did, in a few sentences.
        path: The table's folder.
        version: The version of the table after the statement.
        files_added: The number of new files.
        files_removed: The number of files that were replaced.
        bytes_added: The bytes of the new files.
        bytes_removed: The bytes of the files that were replaced.
        mean_files: For each key column, the mean number of files that a lookup of one value reads now.
        seconds: How long the statement took. With `dry_run`, how long it would take, and None if that is not known.
        dry_run: Whether the statement changed nothing, and only said what it would do.
        metrics: All metrics of the statement's row, with Delta Lake's names.
        df: The statement's DataFrame of one row: `path`, `metrics`, `summary`.

    Examples:
        >>> result = events.optimize(["user", "day"], num_files=16)
        >>> result.files_removed, result.files_added, result.version
        (8, 16, 1)
        >>> result.mean_files
        {'user': 4.0, 'day': 4.0}
        >>> result.metrics.partitionsOptimized
        1
        >>> print(events.optimize())
        Nothing to do: 16 files, all as they should be.
    """

    summary: str
    path: str
    version: int
    files_added: int
    files_removed: int
    bytes_added: int
    bytes_removed: int
    mean_files: Mapping[str, float] = field(hash=False)
    seconds: float | None
    dry_run: bool
    metrics: Row = field(compare=False)
    df: DataFrame = field(compare=False)

    @classmethod
    def of(cls, df: DataFrame) -> OptimizeResult:
        """Make a result of the DataFrame of an `OPTIMIZE`.

        Examples:
            >>> from spark_zorder import OptimizeResult
            >>> OptimizeResult.of(spark.sql("OPTIMIZE events ZORDER BY (user) DRY RUN")).dry_run
            True
        """
        [row] = df.collect()
        metrics = row.metrics
        return cls(
            summary=row.summary,
            path=row.path,
            version=metrics.version,
            files_added=metrics.numFilesAdded,
            files_removed=metrics.numFilesRemoved,
            bytes_added=metrics.filesAdded.totalSize,
            bytes_removed=metrics.filesRemoved.totalSize,
            mean_files={c.column: c.meanFilesAfter for c in metrics.clustering if c.meanFilesAfter is not None},
            seconds=metrics.seconds,
            dry_run=metrics.dryRun,
            metrics=metrics,
            df=df,
        )

    def to_json(self) -> str:
        """Write path, metrics and summary as a JSON object.

        Examples:
            >>> import json
            >>> json.loads(events.optimize(["user"], num_files=8).to_json())["metrics"]["numFilesAdded"]
            8
        """
        told = {"path": self.path, "metrics": self.metrics.asDict(recursive=True), "summary": self.summary}
        return json.dumps(told, ensure_ascii=False, default=str)

    def __repr__(self) -> str:
        return "\n".join(_END.split(self.summary))

    def _repr_html_(self) -> str:
        lines = "<br>".join(html.escape(line) for line in _END.split(self.summary))
        rows = "".join(
            f"<tr><td>{html.escape(c.column)}</td><td>{_number(c.meanFilesBefore)}</td>"
            f"<td>{_number(c.meanFilesAfter)}</td><td>{_number(c.boundFiles)}</td></tr>"
            for c in self.metrics.clustering
        )
        if not rows:
            return f"<p>{lines}</p>"
        head = "<tr><th>files of a lookup on</th><th>before</th><th>after</th><th>best for all alike</th></tr>"
        return f"<p>{lines}</p><table>{head}{rows}</table>"


@dataclass(frozen=True, repr=False)
class RestoreResult:
    """What a `RESTORE` did. Printed, it is a sentence.

    Attributes:
        summary: What the statement did, in a sentence.
        files: The number of the table's files now.
        bytes: Their bytes.
        files_restored: The number of files that came back.
        files_removed: The number of files that went to the trash.
        bytes_restored: The bytes of the files that came back.
        bytes_removed: The bytes of the files that went to the trash.
        metrics: The statement's row, with Delta Lake's names.
        df: The statement's DataFrame, which has this row.

    Examples:
        >>> result = events.optimize(["user", "day"], num_files=16)
        >>> restored = events.restore(0)
        >>> restored
        8 files came back, and 16 files were removed. The table has 8 files of ... KiB.
        >>> restored.files_restored, restored.metrics.num_restored_files
        (8, 8)
    """

    summary: str
    files: int
    bytes: int
    files_restored: int
    files_removed: int
    bytes_restored: int
    bytes_removed: int
    metrics: Row = field(compare=False)
    df: DataFrame = field(compare=False)

    @classmethod
    def of(cls, df: DataFrame) -> RestoreResult:
        """Make a result of the DataFrame of a `RESTORE`.

        Examples:
            >>> from spark_zorder import RestoreResult
            >>> result = events.optimize(["user", "day"], num_files=16)
            >>> RestoreResult.of(spark.sql("RESTORE events TO VERSION AS OF 0")).files
            8
        """
        [row] = df.collect()
        came, gone = files_text(row.num_restored_files), files_text(row.num_removed_files)
        now = f"{files_text(row.num_of_files_after_restore)} of {size_text(row.table_size_after_restore)}"
        return cls(
            summary=f"{came} came back, and {gone} {_were(row.num_removed_files)} removed. The table has {now}.",
            files=row.num_of_files_after_restore,
            bytes=row.table_size_after_restore,
            files_restored=row.num_restored_files,
            files_removed=row.num_removed_files,
            bytes_restored=row.restored_files_size,
            bytes_removed=row.removed_files_size,
            metrics=row,
            df=df,
        )

    def __repr__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary)}</p>"


@dataclass(frozen=True, repr=False)
class VacuumResult:
    """What a `VACUUM` did, or would do. Printed, it is a sentence.

    Attributes:
        summary: What the statement did, in a sentence.
        files: With `dry_run`, the files that would go. Otherwise empty.
        dry_run: Whether the statement deleted nothing.
        df: The statement's DataFrame: the `path` of each of `files`, or of the table's folder, and how many `files`
            and `bytes` they were.

    Examples:
        >>> result = events.optimize(["user", "day"], num_files=16)
        >>> foreseen = events.vacuum(retain_hours=0, dry_run=True)
        >>> foreseen
        8 files would be deleted. Nothing was changed.
        >>> len(foreseen.files)
        8
    """

    summary: str
    files: tuple[str, ...]
    dry_run: bool
    df: DataFrame = field(compare=False)

    @classmethod
    def of(cls, df: DataFrame, dry_run: bool) -> VacuumResult:
        """Make a result of the DataFrame of a `VACUUM`.

        Examples:
            >>> from spark_zorder import VacuumResult
            >>> VacuumResult.of(spark.sql("VACUUM events DRY RUN"), dry_run=True).files
            ()
        """
        rows = df.collect()
        number = sum(row.files for row in rows)
        if dry_run:
            paths = tuple(row.path for row in rows)
            return cls(f"{files_text(number)} would be deleted. Nothing was changed.", paths, dry_run, df)
        if number == 0:
            return cls("There was nothing to delete.", (), dry_run, df)
        return cls(f"{files_text(number)} {_were(number)} deleted.", (), dry_run, df)

    def __repr__(self) -> str:
        return self.summary

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(self.summary)}</p>"


def files_text(number: int) -> str:
    """A number of files in words: `1 file`, `1,200 files`."""
    return f"{number:,} file{'' if number == 1 else 's'}"


def _were(number: int) -> str:
    return "was" if number == 1 else "were"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
