"""A method for each statement."""

from __future__ import annotations

import os
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from spark_zorder.clustering import Clustering, ColumnDepth, FileRange
from spark_zorder.names import positive_number, quote, quote_name, quote_string, whole_number

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame


class Session(Protocol):
    """All that is asked of a session: a `SparkSession` has it, in this process or over Spark Connect."""

    def sql(self, sqlQuery: str, /) -> DataFrame:  # noqa: N803
        """Run a statement."""


class ZOrderTable:
    """A table of plain Parquet or ORC files.

    Every method writes one SQL statement and returns what the statement returns, so what holds for the statement holds
    here, its errors too: `AnalysisException` for a statement that cannot be right, `SparkException` for what went wrong
    while it ran. The statement has run when the method returns.

    Columns are named as in SQL, fields of structs with dots: `"address.city"`. A column with a dot in its own name goes
    into backquotes.

    Args:
        spark: The session, whose Spark has the extension.
        target: A table's name, `[catalog.][database.]table`. For a folder, see `for_path`.

    Raises:
        ValueError: The name is not one, but a path, for instance.
    """

    def __init__(self, spark: Session, target: str) -> None:
        if isinstance(target, os.PathLike) or ("/" in target and "`" not in target):
            raise ValueError(f"{str(target)!r} is a path: write ZOrderTable.for_path(spark, {str(target)!r})")
        self._spark = spark
        self._target = quote_name(target)

    @classmethod
    def for_path(cls, spark: Session, path: str | os.PathLike[str], format: str | None = None) -> ZOrderTable:  # noqa: A002
        """A folder of files.

        Args:
            spark: The session.
            path: The folder.
            format: `parquet` or `orc`; when None, whatever the files are.
        """
        path = os.fspath(path)
        if not path:
            raise ValueError("the path is empty")
        table = cls.__new__(cls)
        table._spark = spark
        table._target = quote_string(path) if format is None else f"{quote_name(format)}.{quote(path)}"
        return table

    @property
    def target(self) -> str:
        """The table, as it stands in the statements."""
        return self._target

    def __repr__(self) -> str:
        return f"ZOrderTable({self._target})"

    def optimize(
        self,
        zorder_by: Sequence[str] | Mapping[str, float] | None = None,
        *,
        hilbert_by: Sequence[str] | Mapping[str, float] | None = None,
        order_by: Sequence[str] | None = None,
        auto: bool = False,
        where: str | None = None,
        full: bool = False,
        options: Mapping[str, object] | None = None,
    ) -> DataFrame:
        """Rewrite the table's files along a space-filling curve; `OPTIMIZE`.

        Args:
            zorder_by: The columns to cluster by, or the columns with their weights: `{"day": 2, "user": 1}`. Without
                any columns, the layout of the last `OPTIMIZE`, else the columns of the table's `CLUSTER BY`, else small
                files are packed.
            hilbert_by: The same, along a Hilbert curve instead.
            order_by: The columns to sort by instead, one after the other.
            auto: Choose columns, weights and curve by the queries that sessions with `spark.zorder.workload.enabled`
                have recorded; `ZORDER BY AUTO`. With the option `hot-ranges` values that are asked for often lie in
                smaller files. `metrics.auto` of the result says what was chosen, and why.
            where: A predicate of partition columns, in SQL: only those partitions.
            full: Rewrite what is in the layout already, too.
            options: The statement's options: `{"num-files": 64}`. An unknown one is an error that lists all.

        Returns:
            One row: `path`, `metrics`.

        Raises:
            TypeError: Columns are a string, or those to sort by have weights.
            ValueError: A name is not one, a weight is not above 0, there is no column, or there are two layouts.
        """
        clauses = [f"OPTIMIZE {self._target}"]
        if full:
            clauses.append("FULL")
        if where is not None:
            clauses.append(f"WHERE {where}")
        layouts = {"zorder_by": zorder_by, "hilbert_by": hilbert_by, "order_by": order_by}
        chosen = [(name, keys) for name, keys in layouts.items() if keys is not None]
        names = [name for name, _ in chosen] + ["auto"] * auto
        if len(names) > 1:
            raise ValueError(f"one layout at a time, not {' and '.join(names)}")
        if isinstance(order_by, Mapping):
            raise TypeError(f"order_by is a list of columns, without weights: {order_by!r}")
        for name, keys in chosen:
            clauses.append(f"{name.replace('_', ' ').upper()} ({_keys(name, keys)})")
        if auto:
            clauses.append("ZORDER BY AUTO")
        if options:
            pairs = (f"{quote_string(key)} = {quote_string(_option(value))}" for key, value in options.items())
            clauses.append(f"OPTIONS ({', '.join(pairs)})")
        return self._spark.sql(" ".join(clauses))

    def create_skipping_index(self, *columns: str, replace: bool = False) -> DataFrame:
        """Collect the statistics by which files are skipped; `CREATE SKIPPING INDEX`.

        Args:
            columns: The columns; all that can be used when there are none.
            replace: Whether there may be an index already, which is replaced.
        """
        create = "CREATE OR REPLACE" if replace else "CREATE"
        return self._spark.sql(f"{create} SKIPPING INDEX ON {self._target}{_columns(columns)}")

    def refresh_skipping_index(self) -> DataFrame:
        """Collect the statistics of files that are new or changed; `REFRESH SKIPPING INDEX`."""
        return self._spark.sql(f"REFRESH SKIPPING INDEX ON {self._target}")

    def drop_skipping_index(self) -> DataFrame:
        """Forget all statistics; `DROP SKIPPING INDEX`."""
        return self._spark.sql(f"DROP SKIPPING INDEX ON {self._target}")

    def describe_skipping_index(self, *columns: str) -> DataFrame:
        """A row for each file and column: what is known of it; `DESCRIBE SKIPPING INDEX`.

        Args:
            columns: Names; none for all that the index has.
        """
        return self._spark.sql(f"DESCRIBE SKIPPING INDEX ON {self._target}{_columns(columns)}")

    def describe_clustering(self, *columns: str) -> DataFrame:
        """A row for each column: how many files a point lookup reads now; `DESCRIBE CLUSTERING`.

        Args:
            columns: The columns; all that can be used when there are none. They need not be clustered by.
        """
        return self._spark.sql(f"DESCRIBE CLUSTERING {self._target}{_columns(columns)}")

    def clustering(self, *columns: str) -> Clustering:
        """How the files lie now, to draw beside how they lie later; see `plot_clustering`.

        Args:
            columns: The columns; all that can be used when there are none.

        Returns:
            What `DESCRIBE CLUSTERING` and, where there is an index, `DESCRIBE SKIPPING INDEX` say.
        """
        from pyspark.errors import AnalysisException

        depths = tuple(ColumnDepth.of(row) for row in self.describe_clustering(*columns).collect())
        try:
            ranges = FileRange.all_of(self.describe_skipping_index().collect())
        except AnalysisException as error:
            if error.getCondition() != "ZORDER_INDEX_NOT_FOUND":
                raise
            return Clustering(self._target, depths, None)
        asked = {depth.column for depth in depths}
        return Clustering(self._target, depths, tuple(r for r in ranges if r.column in asked))

    def plot_clustering(self, *columns: str, before: Clustering | None = None) -> Figure:
        """Draw how many files a lookup reads; needs matplotlib, `pip install spark_zorder[plot]`.

        For each column a histogram of the files that hold a value, with the mean and the bound, the best that so many
        files can do for these columns. Below, where the table has an index, the files' ranges in the first two columns
        as rectangles: the less they overlap, the fewer are read.

            before = table.clustering("a", "b")
            table.optimize(zorder_by=["a", "b"])
            table.plot_clustering("a", "b", before=before).savefig("clustering.png")

        Args:
            columns: The columns; all that can be used when there are none.
            before: How the files lay, to be drawn behind and beside; of the same columns.

        Returns:
            The figure, which a notebook shows.

        Raises:
            ModuleNotFoundError: matplotlib is not installed.
            ValueError: `before` lacks a column, or the table has none that could be drawn.
        """
        from spark_zorder.plot import draw

        return draw(self.clustering(*columns), before)

    def describe_history(self) -> DataFrame:
        """A row for each committed operation, newest first; `DESCRIBE HISTORY`."""
        return self._spark.sql(f"DESCRIBE HISTORY {self._target}")

    def describe_detail(self) -> DataFrame:
        """A row about the table: format, location, number of files, layout, version; `DESCRIBE DETAIL`."""
        return self._spark.sql(f"DESCRIBE DETAIL {self._target}")

    def restore(self, version: int) -> DataFrame:
        """Put back the files of an earlier version, while they are kept; `RESTORE`.

        Files that others have added since stay. It is a version of its own, so there is a way back from it.

        Args:
            version: As in `describe_history`; 0 is the table before its first `optimize`.

        Returns:
            One row: `table_size_after_restore`, `num_of_files_after_restore`, `num_removed_files`,
            `num_restored_files`, `removed_files_size`, `restored_files_size`.
        """
        return self._spark.sql(f"RESTORE {self._target} TO VERSION AS OF {whole_number(version, 'version')}")

    def vacuum(self, retain_hours: int | None = None, *, dry_run: bool = False) -> DataFrame:
        """Delete the files that `optimize` and `restore` have retired; `VACUUM`. Only `restore` would want them.

        Args:
            retain_hours: Keep those retired within so many hours; when None, as many as the option `retain-hours` of
                the `optimize` said, or seven days.
            dry_run: Only say what would be deleted.

        Returns:
            One row, the table's `path`; with `dry_run` the `path` of each file that would be deleted.
        """
        retain = "" if retain_hours is None else f" RETAIN {whole_number(retain_hours, 'retain_hours')} HOURS"
        return self._spark.sql(f"VACUUM {self._target}{retain}{' DRY RUN' if dry_run else ''}")


def explain_skipping(spark: Session, query: str | DataFrame) -> DataFrame:
    """What skipping does for a query: a row for each scan of files; `EXPLAIN SKIPPING`. No data is read.

    Args:
        spark: The session.
        query: A query in SQL, or a DataFrame of this session.

    Returns:
        `scan`, `relation`, `files_total`, `files_kept`, `bytes_total`, `bytes_kept`, `pruning_ms`, `conjuncts`.
    """
    if not isinstance(query, str):
        name = f"explained_{uuid.uuid4().hex}"
        query.createTempView(name)
        try:
            return spark.sql(f"EXPLAIN SKIPPING SELECT * FROM {name}")
        finally:
            spark.sql(f"DROP VIEW {name}")
    return spark.sql(f"EXPLAIN SKIPPING {query.strip().removesuffix(';')}")


def _keys(layout: str, keys: Sequence[str] | Mapping[str, float]) -> str:
    if isinstance(keys, str):
        raise TypeError(f"{layout} is a list of columns or a dict of weights, not a string: [{keys!r}]")
    if not keys:
        raise ValueError(f"{layout} names no column")
    if isinstance(keys, Mapping):
        weights = keys.items()
        return ", ".join(
            f"{quote_name(name)} WEIGHT {positive_number(n, f'the weight of {name}')}" for name, n in weights
        )
    return ", ".join(map(quote_name, keys))


def _columns(columns: Sequence[str]) -> str:
    return f" ({', '.join(map(quote_name, columns))})" if columns else ""


def _option(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
