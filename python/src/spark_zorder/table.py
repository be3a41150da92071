"""`ZOrderTable`, with a method for each statement on a table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from spark_zorder import targets
from spark_zorder.clustering import Clustering, ColumnDepth, FileRange
from spark_zorder.errors import condition_of
from spark_zorder.names import number_from_zero, quote_name, time_literal, whole_number
from spark_zorder.optimize_sql import joins_clause, layout_clause, options_clause, where_clause
from spark_zorder.progress import shown
from spark_zorder.result import OptimizeResult, RestoreResult, VacuumResult
from spark_zorder.statements import Session, run

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pyspark.sql import DataFrame

    from spark_zorder.options import OptimizeOptions, RestoreOptions

# Spark takes no larger number.
_MOST_ROWS = 2**31 - 1


class ZOrderTable:
    """A table of plain Parquet or ORC files.

    Each method writes one SQL statement and runs it. The statement has ended when the method returns. `optimize`,
    `restore` and `vacuum` return a result with fields and the statement's DataFrame, `df`. Methods that describe
    something return the DataFrame itself, and statements on the index return None.

    A method has its statement's errors: `AnalysisException` for a wrong statement, `SparkException` for a failure while
    it runs. In a session without the extension it raises `NoExtensionError`.

    Columns have the same names as in SQL. A field of a struct has dots in its name: `"address.city"`. If a column has a
    dot in its own name, put it in backquotes.

    Args:
        spark: The session. Start it with the extension, for example by `configure_spark`.
        target: A table's name, `[catalog.][database.]table`. For a folder, see `for_path`.

    Raises:
        ValueError: The name is a path, or cannot be a name.

    Examples:
        >>> from spark_zorder import ZOrderTable
        >>> events = ZOrderTable(spark, "events")
        >>> events
        ZOrderTable(`events`)
    """

    def __init__(self, spark: Session, target: str) -> None:
        self._spark = spark
        self._target = targets.of_name(target)

    @classmethod
    def for_path(cls, spark: Session, path: str | os.PathLike[str], format: str | None = None) -> ZOrderTable:  # noqa: A002
        """A table that is a folder of files, in no catalog.

        Args:
            spark: The session.
            path: The folder: a path, a `pathlib.Path`, or a URL such as `s3a://bucket/events` or
                `hdfs://namenode:8020/events`. Give a URL as a `str`, since `pathlib` drops one of its slashes.
            format: `parquet` or `orc`. By default, the format of the files that are there.

        Raises:
            ValueError: The path is empty, or a `pathlib.Path` of a URL.

        Examples:
            >>> ZOrderTable.for_path(spark, "/data/events", "parquet")
            ZOrderTable(`parquet`.`/data/events`)
            >>> ZOrderTable.for_path(spark, "s3a://bucket/events")
            ZOrderTable('s3a://bucket/events')
        """
        table = cls.__new__(cls)
        table._spark = spark
        table._target = targets.of_path(path, format)
        return table

    @staticmethod
    def is_plain(spark: Session, name: str | os.PathLike[str]) -> targets.PlainCheck:
        """Whether a name or a folder is a plain table of Parquet or ORC files, and if not, why not.

        Views, tables of Delta Lake and Iceberg, bucketed tables, tables of other formats and missing tables are not.
        This reads the catalog, a listing and the index, and no data. Like every statement, it first ends an operation
        that a dead process left half done. `optimize` also checks the table's files, for example for types that Spark
        cannot keep. Use `dry_run` to know what it says.

        Args:
            spark: The session.
            name: A table's name, or a folder as in `for_path`.

        Returns:
            Something that is true or false, with the `reason` in words.

        Examples:
            >>> if ZOrderTable.is_plain(spark, "events"):
            ...     result = events.optimize(["user"], num_files=8)
            >>> ZOrderTable.is_plain(spark, "nothing").reason
            'There is no table `nothing`...'
        """
        target = targets.of_path(name, None) if targets.is_path(name) else targets.of_name(str(name))
        return targets.check_plain(spark, target)

    @property
    def target(self) -> str:
        """The table, as statements name it.

        Examples:
            >>> events.target
            '`events`'
        """
        return self._target

    def _long(self, operation: str, statement: str) -> DataFrame:
        """Run a statement that may take long, and show its progress."""
        with shown(self._spark, operation):
            return run(self._spark, statement)

    def __repr__(self) -> str:
        return f"ZOrderTable({self._target})"

    def optimize(
        self,
        zorder_by: Sequence[str] | Mapping[str, float] | None = None,
        *,
        hilbert_by: Sequence[str] | Mapping[str, float] | None = None,
        order_by: Sequence[str] | None = None,
        auto: bool = False,
        joins: Mapping[str, str] | None = None,
        num_files: int | None = None,
        target_file_size: int | str | None = None,
        compression: str | None = None,
        retain_hours: int | None = None,
        where: str | None = None,
        full: bool = False,
        dry_run: bool = False,
        options: OptimizeOptions | Mapping[str, object] | None = None,
    ) -> OptimizeResult:
        """Rewrite the table's files along a space-filling curve: `OPTIMIZE`.

        Four options are arguments of their own. `options` takes the others, which are listed here, by their keys. A
        size is a number of bytes, or a text such as `"128MB"`. Its units are powers of 1024.
        `spark_zorder.OPTIMIZE_OPTIONS` has the types, defaults and ranges of all options.

        - `min-file-size-bytes`: Only for packing, that is, without a layout: smaller files are packed together.
        - `max-file-size-bytes`: Only for packing: larger files are split.
        - `min-input-files`: Only for packing: a group of fewer files is left as it is.
        - `rewrite-all`: Whether to rewrite all files, also those that have the layout and the size already.
        - `mapping`: How values get their positions on the curve.
        - `var-length-contribution`: Only with `'mapping' = 'bytes'`: how many bytes of a string or binary value
          count.
        - `max-output-size`: Only with `'mapping' = 'bytes'`: how many bytes of the combined key count.
        - `cuts`: Where files end.
        - `hot-ranges`: Only with `ZORDER BY AUTO`: whether values that queries often ask for go to smaller files.
        - `sample-rows`: How many rows to sample in all.
        - `row-group-size-bytes`: The size of a row group (Parquet) or of a stripe (ORC) in the new files.
        - `bloom-filter-columns`: The columns that get Bloom filters in the new files.
        - `membership-columns`: The columns whose values the index keeps for each new file.
        - `allow-nanosecond-loss`: Whether timestamps may lose their digits below the microsecond, which Spark
          cannot keep.
        - `max-concurrent-file-group-rewrites`: How many file groups are rewritten at the same time.
        - `max-file-group-size-bytes`: The size of a file group.
        - `partial-progress.enabled`: Whether finished file groups are committed before the others are done.
        - `partial-progress.max-commits`: Only with partial progress: the largest number of commits of the
          statement.
        - `commit.mode`: How the new files come into the table.

        Args:
            zorder_by: The columns to cluster by. For weights, a dict: `{"day": 2, "user": 1}`. Without any columns, the
                statement takes the layout of the last `OPTIMIZE`, or else the columns of the table's `CLUSTER BY`. If
                there is neither, it packs small files.
            hilbert_by: The same columns or weights, for a Hilbert curve.
            order_by: The columns to sort by, one after the other, instead of a curve.
            auto: Choose columns, weights and curve by recorded queries: `ZORDER BY AUTO`. Sessions with
                `spark.zorder.workload.enabled` record them. `metrics.auto` of the result explains the choice.
            joins: Other tables, by columns of which rows are placed, each with the equality of its key and a column of
                this table: `{"customer": "customer_id = id"}`. The layout names their columns beside those of this
                table. They are not written.
            num_files: The number of files that the statement should write in all, at least one for each partition. The
                option `num-files`.
            target_file_size: The size that new files should have, in bytes or as text: `"128MB"`. The option
                `target-file-size-bytes`.
            compression: The compression codec of the new files, such as `"zstd"`. The option of this name.
            retain_hours: How many hours `VACUUM` keeps the files that this statement replaces. The option
                `retain-hours`.
            where: A predicate on partition columns, in SQL. Only these partitions are rewritten.
            full: Also rewrite files that are in the layout already.
            dry_run: Change nothing, and say what the statement would do: `DRY RUN`.
            options: The options above by their keys, such as `{"cuts": "equal"}`. An unknown key is an error.

        Returns:
            What was done, or would be, in fields and in a few sentences.

        Raises:
            TypeError: The columns are a string, `order_by` has weights, or `joins` is no dict.
            ValueError: A name is wrong, a weight is not above 0, no column is named, more than one layout is, or an
                argument and `options` set the same option.

        Examples:
            >>> result = events.optimize(["user", "day"], num_files=16, options={"cuts": "equal"})
            >>> result.files_removed, result.files_added
            (8, 16)
            >>> print(events.optimize(dry_run=True))
            Nothing to do: 16 files, all as they should be.
        """
        layout = layout_clause(zorder_by, hilbert_by, order_by, auto)
        keywords = {
            "num_files": num_files,
            "target_file_size": target_file_size,
            "compression": compression,
            "retain_hours": retain_hours,
        }
        head = f"OPTIMIZE {self._target}{' FULL' if full else ''}{joins_clause(joins)}{where_clause(where)}"
        tail = f"{options_clause(keywords, options)}{' DRY RUN' if dry_run else ''}"
        return OptimizeResult.of(self._long("OPTIMIZE", head + layout + tail))

    def create_skipping_index(
        self, *columns: str, values: Sequence[str] = (), bloom: Sequence[str] = (), replace: bool = False
    ) -> None:
        """Collect the statistics that queries skip files by: `CREATE SKIPPING INDEX`.

        `optimize` does this too. So call it for tables whose files are well placed already.

        Args:
            columns: The columns. By default, all columns that an index can have.
            values: Those columns of which the index keeps the values of each file: a set, or a Bloom filter if that is
                much smaller. They need not be among `columns`.
            bloom: The same, but always as a Bloom filter.
            replace: Replace the index if there is one. Otherwise an existing index is an error.

        Examples:
            >>> events.create_skipping_index("user", "day")
            >>> events.describe_skipping_index("day").count()
            8
            >>> events.create_skipping_index(values=["user"], replace=True)
        """
        create = "CREATE OR REPLACE" if replace else "CREATE"
        named = _indexed(columns, values, bloom)
        self._long("CREATE SKIPPING INDEX", f"{create} SKIPPING INDEX ON {self._target}{named}")

    def refresh_skipping_index(self) -> None:
        """Collect the statistics of new and changed files: `REFRESH SKIPPING INDEX`.

        Examples:
            >>> events.create_skipping_index("user")
            >>> rows.coalesce(1).write.insertInto("events")
            >>> events.refresh_skipping_index()
            >>> events.describe_skipping_index("user").count()
            9
        """
        self._long("REFRESH SKIPPING INDEX", f"REFRESH SKIPPING INDEX ON {self._target}")

    def drop_skipping_index(self) -> None:
        """Delete all statistics: `DROP SKIPPING INDEX`. Later queries skip no files of this table.

        Examples:
            >>> events.create_skipping_index()
            >>> events.drop_skipping_index()
            >>> events.clustering("user").ranges is None
            True
        """
        run(self._spark, f"DROP SKIPPING INDEX ON {self._target}")

    def clear_skipping_memory(self) -> None:
        """Forget in which files earlier queries found no row: `CLEAR SKIPPING MEMORY`.

        Examples:
            >>> events.clear_skipping_memory()
            >>> events.detail().first().rememberedFilters
            0
        """
        run(self._spark, f"CLEAR SKIPPING MEMORY ON {self._target}")

    def describe_skipping_index(self, *columns: str) -> DataFrame:
        """Show the statistics of each column in each file: `DESCRIBE SKIPPING INDEX`.

        Args:
            columns: The columns. By default, all columns of the index.

        Returns:
            A row for each file and column: `path`, `bytes`, `rows`, `column`, `data_type`, `min`, `max`, `null_count`,
                `status`.

        Examples:
            >>> result = events.optimize(order_by=["day"], num_files=4)
            >>> events.describe_skipping_index("day").select("rows", "column", "min", "max", "null_count").show()
            +----+------+---+---+----------+
            |rows|column|min|max|null_count|
            +----+------+---+---+----------+
            |1024|   day|  0| 15|         0|
            |1024|   day| 16| 31|         0|
            |1024|   day| 32| 47|         0|
            |1024|   day| 48| 63|         0|
            +----+------+---+---+----------+
        """
        return run(self._spark, f"DESCRIBE SKIPPING INDEX ON {self._target}{_columns(columns)}")

    def describe_clustering(self, *columns: str) -> DataFrame:
        """Show how many files a lookup of one value reads now: `DESCRIBE CLUSTERING`.

        Args:
            columns: The columns. They need not be those of the layout. By default, all columns that have an order.

        Returns:
            A row for each column: `column`, `files`, `mean_files`, `max_files`, `skipped_fraction`, `bound_files`,
                `depth_histogram`.

        Examples:
            >>> result = events.optimize(["user", "day"], num_files=16)
            >>> events.describe_clustering("user", "day").select("column", "files", "mean_files", "bound_files").show()
            +------+-----+----------+-----------+
            |column|files|mean_files|bound_files|
            +------+-----+----------+-----------+
            |  user|   16|       4.0|        4.0|
            |   day|   16|       4.0|        4.0|
            +------+-----+----------+-----------+
        """
        return run(self._spark, f"DESCRIBE CLUSTERING {self._target}{_columns(columns)}")

    def clustering(self, *columns: str) -> Clustering:
        """Measure the clustering now. Keep the result, and compare it with a later one or draw it by `plot_clustering`.

        Args:
            columns: The columns. By default, all columns that have an order.

        Returns:
            The results of `DESCRIBE CLUSTERING` and, if there is an index, of `DESCRIBE SKIPPING INDEX`.

        Examples:
            >>> before = events.clustering("user")
            >>> result = events.optimize(["user"], num_files=8)
            >>> now = events.clustering("user")
            >>> print(f"{before.depth('user').mean_files:.0f} files before, {now.depth('user').mean_files:.0f} now")
            8 files before, 1 now
        """
        from pyspark.errors import AnalysisException

        depths = tuple(ColumnDepth.of(row) for row in self.describe_clustering(*columns).collect())
        try:
            ranges = FileRange.all_of(self.describe_skipping_index(*columns).collect())
        except AnalysisException as error:
            if condition_of(error) != "ZORDER_INDEX_NOT_FOUND":
                raise
            return Clustering(self._target, depths, None)
        asked = {depth.column for depth in depths}
        return Clustering(self._target, depths, tuple(r for r in ranges if r.column in asked))

    def plot_clustering(self, *columns: str, before: Clustering | None = None) -> Figure:
        """Draw how many files a lookup reads. Needs matplotlib: `pip install matplotlib`.

        Each column gets a histogram: the share of the rows by the number of files that may hold their value. Lines show
        the mean and the bound, which is the best mean that this number of files can reach.

        If the table has an index, a map of the first two columns shows each file as a rectangle. Queries read fewer
        files when the rectangles overlap less.

        Args:
            columns: The columns. By default, all columns that have an order.
            before: An earlier result of `clustering` for the same columns, to compare with.

        Returns:
            The figure. A notebook shows it.

        Raises:
            ModuleNotFoundError: matplotlib is not installed.
            ValueError: `before` lacks a column, or no column has an order.

        Examples:
            >>> before = events.clustering("user", "day")
            >>> result = events.optimize(["user", "day"], num_files=16)
            >>> figure = events.plot_clustering("user", "day", before=before)
            >>> figure.savefig("clustering.png")
        """
        from spark_zorder._plot.clustering import draw

        return draw(self.clustering(*columns), before)

    def describe_history(self, limit: int | None = None) -> DataFrame:
        """Show the operations on this table, the newest first: `DESCRIBE HISTORY`.

        Args:
            limit: The number of operations to show, as for Delta's `history`. By default, all of them.

        Returns:
            A row for each operation: `version`, `timestamp`, `userId`, `operation`, `operationParameters`,
                `operationMetrics`, `state`.

        Raises:
            ValueError: `limit` is not a whole number, 0 or more.

        Examples:
            >>> result = events.optimize(["user"], num_files=8)
            >>> result = events.optimize(["user", "day"], num_files=16)
            >>> result = events.restore(1)
            >>> events.describe_history(limit=2).select("version", "operation", "state").show()
            +-------+---------+---------+
            |version|operation|    state|
            +-------+---------+---------+
            |      3|  RESTORE|committed|
            |      2| OPTIMIZE| restored|
            +-------+---------+---------+
        """
        newest = _MOST_ROWS if limit is None else min(whole_number(limit, "limit"), _MOST_ROWS)
        history = run(self._spark, f"DESCRIBE HISTORY {self._target}")
        return history if limit is None else history.limit(newest)

    def history(self, limit: int | None = None) -> DataFrame:
        """The same as `describe_history`, by the name that it has in Delta Lake's `DeltaTable`.

        Args:
            limit: The number of operations to show. By default, all of them.

        Returns:
            A row for each operation, the newest first.

        Raises:
            ValueError: `limit` is not a whole number, 0 or more.

        Examples:
            >>> result = events.optimize(["user"], num_files=8)
            >>> events.history(1).first().operation
            'OPTIMIZE'
        """
        return self.describe_history(limit)

    def describe_detail(self) -> DataFrame:
        """Show the table's format, location, number of files, layout and version: `DESCRIBE DETAIL`.

        Returns:
            One row: `format`, `name`, `description`, `location`, `createdAt`, `lastModified`, `partitionColumns`,
                `clusteringColumns`, `numFiles`, `sizeInBytes`, `properties`, `version`, `rememberedFilters`,
                `rememberedBytes`.

        Examples:
            >>> result = events.optimize(["user", "day"], num_files=16)
            >>> events.describe_detail().select("format", "clusteringColumns", "numFiles", "version").show()
            +-------+-----------------+--------+-------+
            | format|clusteringColumns|numFiles|version|
            +-------+-----------------+--------+-------+
            |parquet|      [user, day]|      16|      1|
            +-------+-----------------+--------+-------+
        """
        return run(self._spark, f"DESCRIBE DETAIL {self._target}")

    def detail(self) -> DataFrame:
        """The same as `describe_detail`, by the name that it has in Delta Lake's `DeltaTable`.

        Returns:
            One row about the table.

        Examples:
            >>> events.detail().first().numFiles
            8
        """
        return self.describe_detail()

    def restore(
        self,
        version: int | None = None,
        *,
        timestamp: str | date | None = None,
        options: RestoreOptions | Mapping[str, object] | None = None,
    ) -> RestoreResult:
        """Bring back the files of an earlier version, until `vacuum` deletes them: `RESTORE`.

        Files that others added since stay. A restore is a version of its own, so you can undo it by another restore.

        Args:
            version: A version of `describe_history`. 0 is the table before its first `optimize`.
            timestamp: Instead of a version, a time: the newest version that is not later. It is a text such as
                `"2026-03-01 12:00"`, a `datetime` or a `date`. A text without a zone, and a `date`, are in the
                session's time zone. A `datetime` without a zone is in that of Python, as everywhere in PySpark.
            options: `{"lost-files": "restore"}` goes back although other programs have deleted files that would go to
                the trash. All rows of the version come back, also those of the deleted files.

        Returns:
            What was done, in fields and in a sentence.

        Raises:
            TypeError: Neither a version nor a time is given, or both are.
            ValueError: `version` is not a whole number, 0 or more.

        Examples:
            >>> result = events.optimize(["user", "day"], num_files=16)
            >>> restored = events.restore(0)
            >>> restored.files_removed, restored.files_restored
            (16, 8)
            >>> optimized = events.history().where("version = 1").first()
            >>> events.restore(timestamp=optimized.timestamp).files
            16
        """
        if version is not None and timestamp is None:
            point = f"VERSION AS OF {whole_number(version, 'version')}"
        elif version is None and timestamp is not None:
            point = f"TIMESTAMP AS OF {time_literal(timestamp, 'timestamp')}"
        else:
            raise TypeError("restore takes a version or a timestamp, and not both")
        statement = f"RESTORE {self._target} TO {point}{options_clause({}, options)}"
        return RestoreResult.of(self._long("RESTORE", statement))

    def vacuum(self, retain_hours: float | None = None, *, dry_run: bool = False) -> VacuumResult:
        """Delete old files that `optimize` and `restore` replaced: `VACUUM`. A later `restore` cannot bring them back.

        Args:
            retain_hours: Keep the files that were replaced in the last hours, such as `24` or `0.5`. 0 keeps none. By
                default, the option `retain-hours` of the `optimize` that replaced them, or seven days.
            dry_run: Delete nothing, and show the files that would go.

        Returns:
            A result in a sentence. With `dry_run`, its `files` are those that would go.

        Raises:
            ValueError: `retain_hours` is not a number, 0 or more.

        Examples:
            >>> result = events.optimize(["user", "day"], num_files=16)
            >>> events.vacuum(retain_hours=0.5, dry_run=True).files
            ()
            >>> events.vacuum(retain_hours=0, dry_run=True)
            8 files would be deleted. Nothing was changed.
        """
        retain = "" if retain_hours is None else f" RETAIN {number_from_zero(retain_hours, 'retain_hours')} HOURS"
        statement = f"VACUUM {self._target}{retain}{' DRY RUN' if dry_run else ''}"
        return VacuumResult.of(self._long("VACUUM", statement), dry_run)


def _indexed(columns: Sequence[str], values: Sequence[str], bloom: Sequence[str]) -> str:
    """The columns of an index: those that are named, or all, and how the values of some are kept."""
    kinds = {**dict.fromkeys(columns, ""), **dict.fromkeys(values, " VALUES"), **dict.fromkeys(bloom, " BLOOM")}
    named = [quote_name(c) + kind for c, kind in kinds.items()]
    return f" ({', '.join(named if columns or not named else ['*', *named])})" if named else ""


def _columns(columns: Sequence[str]) -> str:
    return f" ({', '.join(map(quote_name, columns))})" if columns else ""
