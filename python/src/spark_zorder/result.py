"""The result of `OPTIMIZE`, for people and for programs."""

from __future__ import annotations

import html
import json
import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row

# The end of a sentence, outside of backquotes.
_END = re.compile(r"(?<=\.) (?=(?:[^`]*`[^`]*`)*[^`]*$)")


class ResultFrame:
    """The DataFrame of a statement, with more: everything that a DataFrame has is there.

    Examples:
        >>> from pyspark.sql import DataFrame
        >>> isinstance(events.optimize(["user"], options={"num-files": 8}), DataFrame)
        True
    """

    def __init__(self, df: DataFrame) -> None:
        self._df = df

    # Functions of pyspark ask for the class of a DataFrame before they take it.
    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return type(self._df)

    def __getattr__(self, name: str) -> Any:
        # Copies and pickles ask for names before there is a DataFrame.
        if name == "_df":
            raise AttributeError(name)
        return getattr(self._df, name)

    def __getitem__(self, item: Any) -> Any:
        return self._df[item]

    @property
    def df(self) -> DataFrame:
        """The statement's DataFrame.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 8}).df.columns
            ['path', 'metrics', 'summary']
        """
        return self._df


class OptimizeResult(ResultFrame):
    """What an `OPTIMIZE` did, or would do.

    It reads as a few sentences, and it works as the statement's DataFrame.

    Examples:
        >>> result = events.optimize(["user", "day"], options={"num-files": 16})
        >>> result.files_removed, result.files_added, result.dry_run
        (8, 16, False)
        >>> result.select("metrics.numFilesAdded").first()
        Row(numFilesAdded=16)
    """

    @cached_property
    def _row(self) -> Row:
        row: Row = self._df.collect()[0]
        return row

    @property
    def path(self) -> str:
        """The table's folder.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 4}).path.endswith("/events")
            True
        """
        return str(self._row.path)

    @property
    def metrics(self) -> Row:
        """The metrics of the statement's row.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 8}).metrics.version
            1
        """
        metrics: Row = self._row.metrics
        return metrics

    @property
    def text(self) -> str:
        """What the statement did, in a few sentences.

        Examples:
            >>> result = events.optimize(["user"], options={"num-files": 4})
            >>> events.optimize().text
            'Nothing to do: 4 files, all as they should be.'
        """
        return str(self._row.summary)

    @property
    def files_added(self) -> int:
        """The number of new files.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 4}).files_added
            4
        """
        return int(self.metrics.numFilesAdded)

    @property
    def files_removed(self) -> int:
        """The number of files that were replaced.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 4}).files_removed
            8
        """
        return int(self.metrics.numFilesRemoved)

    @property
    def bytes_added(self) -> int:
        """The bytes of the new files.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 4}).bytes_added > 4000
            True
        """
        return int(self.metrics.filesAdded.totalSize)

    @property
    def bytes_removed(self) -> int:
        """The bytes of the files that were replaced.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 4}).bytes_removed > 4000
            True
        """
        return int(self.metrics.filesRemoved.totalSize)

    @property
    def version(self) -> int:
        """The version of the table after the statement.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 4}).version
            1
        """
        return int(self.metrics.version)

    @property
    def seconds(self) -> float | None:
        """How long the statement took, or would take by the table's history.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 4}).seconds < 600
            True
        """
        seconds: float | None = self.metrics.seconds
        return seconds

    @property
    def dry_run(self) -> bool:
        """Whether the statement changed nothing, and only said what it would do.

        Examples:
            >>> events.optimize(["user"], options={"num-files": 4}, dry_run=True).dry_run
            True
        """
        return bool(self.metrics.dryRun)

    @property
    def mean_files(self) -> dict[str, float]:
        """For each key column, the mean number of files that a lookup of one value reads.

        Examples:
            >>> events.optimize(["user", "day"], options={"num-files": 16}).mean_files
            {'user': 4.0, 'day': 4.0}
        """
        return {c.column: c.meanFilesAfter for c in self.metrics.clustering if c.meanFilesAfter is not None}

    def to_json(self) -> str:
        """Write path, metrics and summary as a JSON object.

        Examples:
            >>> import json
            >>> json.loads(events.optimize(["user"], options={"num-files": 8}).to_json())["metrics"]["numFilesAdded"]
            8
        """
        return json.dumps(self._row.asDict(recursive=True), ensure_ascii=False, default=str)

    def __repr__(self) -> str:
        return "\n".join(_END.split(self.text))

    def __str__(self) -> str:
        return repr(self)

    def _repr_html_(self) -> str:
        lines = "<br>".join(html.escape(line) for line in _END.split(self.text))
        rows = "".join(
            f"<tr><td>{html.escape(c.column)}</td><td>{_number(c.meanFilesBefore)}</td>"
            f"<td>{_number(c.meanFilesAfter)}</td><td>{_number(c.boundFiles)}</td></tr>"
            for c in self.metrics.clustering
        )
        if not rows:
            return f"<p>{lines}</p>"
        head = "<tr><th>files of a lookup on</th><th>before</th><th>after</th><th>best possible</th></tr>"
        return f"<p>{lines}</p><table>{head}{rows}</table>"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.1f}"
