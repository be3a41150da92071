"""Streams over a folder that is appended to, optimized and restored: each row arrives once."""

from __future__ import annotations

import os
import re
import shutil
import uuid
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import settings
from conftest import REPOSITORY
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from small_tables import ROWS, SmallTable, age, once, write_file

SCHEMA = "id BIGINT, a INT"
PAGE = (REPOSITORY / "docs/readers.md").read_text()
ALL_BUT_OURS = "".join(re.findall(r'^ +"(.+)"$', PAGE.split("ALL_BUT_OURS = (")[1].split("\n)")[0], re.MULTILINE))
"""The pattern in docs/readers.md."""
PATTERNS = ("*", "p=*", "p=*/*.parquet")
NAMES_OF_OTHERS = (
    "new.parquet",
    f"part-00000-{uuid.uuid4()}-c000.snappy.parquet",  # Spark
    f"part-00001-{uuid.uuid4()}.c000.zstd.parquet",
    "part-17.parquet",  # pyarrow
    f"data_{uuid.uuid4()}.parquet",  # DuckDB
    "00000000.parquet",  # Polars
    "part.1.parquet",  # dask
    "000000_0",  # Hive
    "zones.parquet",
)


class Stream:
    """A stream of ids over a folder. It can be stopped, and started again from its checkpoint."""

    def __init__(self, spark: SparkSession, path: Path | str, at: Path, **options: str) -> None:
        self.spark, self.path, self.at, self.options = spark, str(path), at, options
        self.schema = SCHEMA
        self.query: StreamingQuery | None = None

    def start(self, once: bool = False) -> Stream:
        """Go on from the checkpoint."""
        reader = self.spark.readStream.schema(self.schema).options(**self.options)
        writer = reader.parquet(self.path).writeStream.option("checkpointLocation", str(self.at / "checkpoint"))
        if once:
            writer = writer.trigger(availableNow=True)
        self.query = writer.foreachBatch(self._keep).start()
        return self

    def _keep(self, rows: DataFrame, number: int) -> None:
        rows.write.mode("overwrite").parquet(str(self.at / "arrived" / f"batch={number}"))

    def catch_up(self) -> Counter[int]:
        """Read all that is there. If a file is moved meanwhile, start again, as docs/readers.md says."""
        if self.query is None:
            self.start()
        assert self.query is not None
        try:
            self.query.processAllAvailable()
        except StreamingQueryException as error:
            if "FAILED_READ_FILE.FILE_NOT_EXIST" not in str(error):
                raise
            self.start().query.processAllAvailable()  # type: ignore[union-attr]
        return self.arrived()

    def run_once(self) -> Counter[int]:
        """Start it, read all that is there, and stop."""
        self.start(once=True)
        assert self.query is not None
        self.query.awaitTermination()
        self.query = None
        return self.arrived()

    def stop(self) -> None:
        if self.query is not None:
            self.query.stop()
            self.query = None

    def fails(self, reason: str, ids: Iterable[int]) -> None:
        """Check that it ends with an error, and has read these rows."""
        with pytest.raises(Exception, match=rf"ZORDER_STREAM_FAILED\.{reason}"):
            self.run_once()
        assert self.arrived() == once(ids)

    def arrived(self) -> Counter[int]:
        arrived = self.at / "arrived"
        if not arrived.exists():
            return Counter()
        return Counter(row.id for row in self.spark.read.schema(SCHEMA).parquet(str(arrived)).select("id").collect())


Streams = Callable[..., Stream]


@pytest.fixture
def stream(spark: SparkSession, tmp_path: Path) -> Iterator[Streams]:
    """Make streams. They are stopped after the test."""
    made: list[Stream] = []

    def make(path: Path | str, **options: str) -> Stream:
        at = tmp_path / f"stream{len(made)}"
        made.append(Stream(spark, path, at, **options))
        return made[-1]

    yield make
    for each in made:
        each.stop()


def append(folder: Path, name: str, start: int) -> set[int]:
    return write_file(folder / name, range(start, start + ROWS))


def optimize(spark: SparkSession, root: Path, more: str = "") -> None:
    """Rewrite three files, or as many as the incremental policy chooses."""
    spark.sql(f"OPTIMIZE parquet.`{root}` {more} ZORDER BY (a) OPTIONS ('num-files' = '2')")


@pytest.mark.parametrize("partitioned", [pytest.param(False, marks=pytest.mark.test_all), True])
def test_each_row_arrives_once_meanwhile(
    spark: SparkSession, tmp_path: Path, stream: Streams, partitioned: bool
) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned)
    last = table.folders[-1]
    ids = set(table.ids)
    running = stream(table.root)
    assert running.catch_up() == once(ids)
    optimize(spark, table.root)
    assert running.catch_up() == once(ids)
    ids |= append(last, "new-1.parquet", 10_000)
    assert running.catch_up() == once(ids)
    ids |= append(last, "new-2.parquet", 11_000)
    optimize(spark, table.root)
    assert running.catch_up() == once(ids)
    optimize(spark, table.root, "FULL")
    assert running.catch_up() == once(ids)
    running.stop()
    spark.sql(f"RESTORE parquet.`{table.root}` TO VERSION AS OF 1")
    ids |= append(last, "new-3.parquet", 12_000)
    assert running.catch_up() == once(ids)
    spark.sql(f"RESTORE parquet.`{table.root}` TO VERSION AS OF 0")
    assert running.catch_up() == once(ids)


@pytest.mark.test_rest
def test_rewritten_rows_are_read_from_the_trash(spark: SparkSession, parted: SmallTable, stream: Streams) -> None:
    ids = set(parted.ids)
    stopped = stream(parted.root)
    assert stopped.run_once() == once(ids)
    ids |= append(parted.root / "p=1", "new.parquet", 10_000)
    ids |= append(parted.root / "p=3", "new.parquet", 11_000)
    optimize(spark, parted.root)
    optimize(spark, parted.root, "FULL")
    assert stopped.run_once() == once(ids)


@pytest.mark.test_rest
@pytest.mark.parametrize("begins", ["before the loss", "after the loss", "after the RESTORE"])
def test_a_restore_of_lost_files(spark: SparkSession, table: SmallTable, stream: Streams, begins: str) -> None:
    spark.sql(f"OPTIMIZE {table.source} ZORDER BY (a) OPTIONS ('num-files' = '4')")
    s = stream(table.root)
    if begins == "before the loss":
        assert s.run_once() == once(table.ids)
    table.files()[0].unlink()
    if begins == "after the loss":
        assert 0 < len(s.run_once()) < len(table.ids)
    spark.sql(f"RESTORE {table.source} TO VERSION AS OF 0 OPTIONS ('lost-files' = 'restore')")
    if begins == "after the loss":
        # It has rows of some new files, and the rows of the lost one are only in old files.
        with pytest.raises(StreamingQueryException, match=r"ZORDER_STREAM_FAILED\.FILES_GONE"):
            s.run_once()
    else:
        assert s.run_once() == once(table.ids)


@pytest.mark.test_rest
def test_a_stream_without_its_rows_in_the_trash_fails(spark: SparkSession, table: SmallTable, stream: Streams) -> None:
    stopped = stream(table.root)
    stopped.run_once()
    append(table.root, "new.parquet", 10_000)
    optimize(spark, table.root, "FULL")
    spark.sql(f"VACUUM parquet.`{table.root}` RETAIN 0 HOURS")
    stopped.fails(r"FILES_GONE.*new\.parquet.*another checkpoint", table.ids)
    assert stream(table.root).run_once() == once(table.ids | set(range(10_000, 10_000 + ROWS)))


@pytest.mark.test_all
def test_a_fresh_stream_reads_old_and_new_rows(spark: SparkSession, table: SmallTable, stream: Streams) -> None:
    ids = set(table.ids)
    optimize(spark, table.root)
    ids |= append(table.root, "new.parquet", 10_000)
    optimize(spark, table.root, "FULL")
    ids |= append(table.root, "new-2.parquet", 11_000)
    fresh = stream(table.root, maxFilesPerTrigger="1")
    assert fresh.run_once() == once(ids)
    spark.sql(f"RESTORE parquet.`{table.root}` TO VERSION AS OF 0")
    assert fresh.run_once() == once(ids)


@pytest.mark.test_all
def test_a_batch_that_is_run_again_reads_the_same_rows(spark: SparkSession, table: SmallTable, stream: Streams) -> None:
    stopped = stream(table.root)
    stopped.run_once()
    # As if the process had died before it noted the end of the batch.
    (stopped.at / "checkpoint" / "commits" / "0").unlink()
    (stopped.at / "checkpoint" / "commits" / ".0.crc").unlink(missing_ok=True)
    shutil.rmtree(stopped.at / "arrived")
    optimize(spark, table.root, "FULL")
    assert stopped.run_once() == once(table.ids)


@pytest.mark.test_rest
def test_a_freed_name_used_again_is_new_data(spark: SparkSession, table: SmallTable, stream: Streams) -> None:
    optimize(spark, table.root, "FULL")
    stopped = stream(table.root)
    assert stopped.run_once() == once(table.ids)
    # A load under a name of the first load is rewritten before the stream lists it.
    ids = set(table.ids) | append(table.root, "part-0.parquet", 10_000)
    optimize(spark, table.root, "FULL")
    assert stopped.run_once() == once(ids)
    ids |= append(table.root, "part-0.parquet", 20_000)
    assert stopped.run_once() == once(ids)
    optimize(spark, table.root, "FULL")
    assert stopped.run_once() == once(ids)
    assert stream(table.root).run_once() == once(ids)


@pytest.mark.test_rest
def test_a_load_under_old_names_is_read_once(spark: SparkSession, table: SmallTable, stream: Streams) -> None:
    names = [path.name for path in table.files()]
    optimize(spark, table.root, "FULL")
    for path in table.files():
        path.unlink()
    ids = {i for n, name in enumerate(names) for i in append(table.root, name, 10_000 + n * ROWS)}
    running = stream(table.root)
    assert running.catch_up() == once(ids)
    optimize(spark, table.root, "FULL")
    assert running.catch_up() == once(ids)


def shift(path: Path, seconds: float) -> None:
    """Give a file another time, as `tar`, `cp -p`, `rsync -t` and `touch` do."""
    times = path.stat()
    os.utime(path, (times.st_atime, times.st_mtime + seconds))


@pytest.mark.test_rest
@pytest.mark.parametrize("seconds", [-3 * 86_400, -1, 5], ids=["backup", "whole seconds", "touch"])
def test_touched_files_are_not_new(spark: SparkSession, table: SmallTable, stream: Streams, seconds: float) -> None:
    stopped = stream(table.root)
    assert stopped.run_once() == once(table.ids)
    for path in table.files():
        shift(path, seconds)
    # A file that the stream has not read yet gets the same treatment.
    ids = set(table.ids) | append(table.root, "new.parquet", 10_000)
    optimize(spark, table.root, "FULL")
    assert stopped.run_once() == once(ids)
    assert stream(table.root).run_once() == once(ids)


@pytest.mark.test_rest
@pytest.mark.parametrize("seconds", [-86_400, pytest.param(86_400, marks=pytest.mark.test_all)])
def test_touched_returned_files_are_old(
    spark: SparkSession, table: SmallTable, stream: Streams, seconds: float
) -> None:
    optimize(spark, table.root, "FULL")
    stopped = stream(table.root)
    assert stopped.run_once() == once(table.ids)
    spark.sql(f"RESTORE parquet.`{table.root}` TO VERSION AS OF 0")
    for path in table.files():
        shift(path, seconds)
    assert stopped.run_once() == once(table.ids)
    ids = set(table.ids) | append(table.root, "new.parquet", 10_000)
    optimize(spark, table.root, "FULL")
    assert stopped.run_once() == once(ids)


@pytest.mark.test_rest
@pytest.mark.parametrize("is_fresh", [False, True])
def test_equal_loads_arrive_once(spark: SparkSession, table: SmallTable, stream: Streams, is_fresh: bool) -> None:
    first = table.files()[0]
    os.utime(first, (1e9, 1e9))
    stopped = stream(table.root)
    if not is_fresh:
        assert stopped.run_once() == once(table.ids)
    optimize(spark, table.root, "FULL")
    if is_fresh:
        assert stopped.run_once() == once(table.ids)
    new = write_file(first, range(10_000, 10_000 + 3 * ROWS))
    os.utime(first, (1e9, 1e9))
    optimize(spark, table.root, "FULL")
    if is_fresh:
        assert stopped.run_once() == once(table.ids | new)
    else:
        # Which of the two it has read is not known.
        stopped.fails("UNKNOWN_FILE", table.ids)
    assert stream(table.root).run_once() == once(table.ids | new)


@pytest.mark.test_all
def test_a_stream_over_a_copied_table(spark: SparkSession, table: SmallTable, tmp_path: Path, stream: Streams) -> None:
    optimize(spark, table.root, "FULL")
    spark.sql(f"RESTORE parquet.`{table.root}` TO VERSION AS OF 0")
    copy = tmp_path / "copy"
    # With time stamps of now, the newest record first.
    for path in sorted(table.root.rglob("*"), reverse=True):
        if path.is_file() and path.suffix != ".crc":
            (copy / path.relative_to(table.root)).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, copy / path.relative_to(table.root))
    assert Counter(row.id for row in spark.read.parquet(f"{copy}/*.parquet").collect()) == once(table.ids)
    running = stream(copy)
    assert running.catch_up() == once(table.ids)
    optimize(spark, copy, "FULL")
    assert running.catch_up() == once(table.ids)


@pytest.mark.test_rest
@pytest.mark.parametrize("stops", [False, pytest.param(True, marks=pytest.mark.test_all)])
@pytest.mark.parametrize("pattern", ["*.parquet", *(pytest.param(p, marks=pytest.mark.test_all) for p in PATTERNS)])
def test_a_stream_over_a_pattern(
    spark: SparkSession, tmp_path: Path, stream: Streams, pattern: str, stops: bool
) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned=pattern.startswith("p="))
    ids = set(table.ids)
    s = stream(f"{table.root}/{pattern}")
    read = s.run_once if stops else s.catch_up
    assert read() == once(ids)
    if stops:
        ids |= append(table.folders[0], "new.parquet", 10_000)
    optimize(spark, table.root, "FULL")
    ids |= append(table.folders[0], "more.parquet", 20_000)
    assert read() == once(ids)


@pytest.mark.test_all
def test_partition_values_of_rows_from_the_trash(spark: SparkSession, parted: SmallTable, stream: Streams) -> None:
    stopped = stream(parted.root)
    stopped.schema = f"{SCHEMA}, p INT"
    stopped.run_once()
    append(parted.root / "p=2", "new.parquet", 10_000)
    optimize(spark, parted.root, "FULL")
    stopped.run_once()
    rows = spark.read.parquet(str(stopped.at / "arrived")).where("id >= 10000").select("p").distinct().collect()
    assert [row.p for row in rows] == [2]


@pytest.mark.test_all
def test_a_stream_over_a_table_of_the_catalog(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a INT) USING parquet")
    spark.sql("INSERT INTO t SELECT id, CAST(id * 7 % 101 AS INT) FROM range(100)")

    def count() -> int:
        rows = spark.readStream.table("t").writeStream.option("checkpointLocation", str(tmp_path / "checkpoint"))
        rows.trigger(availableNow=True).toTable("arrived").awaitTermination()
        return spark.table("arrived").count()

    assert count() == 100
    spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '3')")
    assert count() == 100
    spark.sql("INSERT INTO t VALUES (1000, 1)")
    assert count() == 101


@pytest.mark.test_rest
def test_the_pattern_of_the_docs_leaves_out_our_files(spark: SparkSession, table: SmallTable, stream: Streams) -> None:
    ids = set(table.ids)
    plain = stream(table.root, pathGlobFilter=ALL_BUT_OURS)
    assert plain.run_once() == once(ids)
    optimize(spark, table.root, "FULL")
    for n, name in enumerate(NAMES_OF_OTHERS, 1):
        ids |= append(table.root, name, n * 10_000)
    assert plain.run_once() == once(ids)
    assert not [
        row
        for row in spark.read.option("pathGlobFilter", ALL_BUT_OURS).parquet(str(table.root)).collect()
        if row.id < 10_000
    ]


@pytest.mark.test_all
@pytest.mark.parametrize("again", [False, True], ids=["of the file", "of what it was made of"])
def test_without_a_record_streams_fail(spark: SparkSession, table: SmallTable, stream: Streams, again: bool) -> None:
    stopped, fresh = stream(table.root), stream(table.root)
    stopped.run_once()
    optimize(spark, table.root, "FULL")
    shutil.rmtree(table.root / "_zorder")
    if again:
        optimize(spark, table.root, "FULL")
    stopped.fails("UNKNOWN_FILE", table.ids)
    assert fresh.run_once() == once(table.ids)


@pytest.mark.test_rest
def test_a_used_name_hides_no_missing_records(spark: SparkSession, table: SmallTable, stream: Streams) -> None:
    stopped = stream(table.root)
    stopped.run_once()
    names = [path.name for path in table.files()]
    optimize(spark, table.root, "FULL")
    shutil.rmtree(table.root / "_zorder")
    for n, name in enumerate(names):
        append(table.root, name, 10_000 + n * ROWS)
    stopped.fails("UNKNOWN_FILE", table.ids)


def forget(spark: SparkSession, root: Path) -> None:
    """Let the history forget what was done in `p=1`."""
    versions = spark.sql(f"DESCRIBE HISTORY parquet.`{root}`").count()
    for _ in range(16):
        spark.sql(f"OPTIMIZE parquet.`{root}` FULL WHERE p = 2 ZORDER BY (a) OPTIONS ('num-files' = '2')").collect()
    age(root / "_zorder", range(1, versions + 1))
    spark.sql(f"VACUUM parquet.`{root}` RETAIN 0 HOURS").collect()


@pytest.mark.test_all
def test_a_stream_goes_on_if_its_files_are_forgotten(spark: SparkSession, parted: SmallTable, stream: Streams) -> None:
    first, name = parted.folders[0], parted.files()[0].name
    stopped, ids = stream(parted.root), set(parted.ids)
    stopped.run_once()
    optimize(spark, parted.root, "FULL WHERE p = 1")
    assert stopped.run_once() == once(ids)
    forget(spark, parted.root)
    assert stopped.run_once() == once(ids)
    ids |= append(first, "new.parquet", 10_000)
    assert stopped.run_once() == once(ids)
    ids |= append(first, "more.parquet", 20_000)
    optimize(spark, parted.root, "FULL WHERE p = 1")
    assert stopped.run_once() == once(ids)
    # Whether the stream means this file by the name that it has seen is not known any more.
    append(first, name, 30_000)
    optimize(spark, parted.root, "FULL WHERE p = 1")
    stopped.fails("UNKNOWN_FILE", ids)


@pytest.mark.test_all
@pytest.mark.parametrize("taken", [False, True], ids=["by its name", "by another name"])
def test_a_file_that_came_back_is_not_new(
    spark: SparkSession, parted: SmallTable, stream: Streams, taken: bool
) -> None:
    first, names, ids = parted.folders[0], [f.name for f in parted.files() if f.parent == parted.folders[0]], parted.ids
    optimize(spark, parted.root, "FULL WHERE p = 1")
    stopped = stream(parted.root)
    assert stopped.run_once() == once(ids)
    if taken:
        # Others use the names, so that the files come back by other names.
        for n, name in enumerate(names):
            append(first, name, 10_000 + n * ROWS)
        ids = ids | set(range(10_000, 10_000 + len(names) * ROWS))
        assert stopped.run_once() == once(ids)
    spark.sql(f"RESTORE parquet.`{parted.root}` TO VERSION AS OF 0").collect()
    forget(spark, parted.root)
    stopped.fails("UNKNOWN_FILE", ids)


def test_a_file_that_comes_before_the_start_does_not_exchange_columns(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "part-1.parquet")
    with settings(spark, spark_sql_streaming_schemaInference="true"):
        frame = spark.readStream.parquet(str(tmp_path))
        # It sorts earlier, so Spark would infer its columns.
        pq.write_table(pa.table({"b": [4], "a": [3]}), tmp_path / "part-0.parquet")
        query = frame.writeStream.format("memory").queryName("columns").trigger(availableNow=True).start()
        query.awaitTermination()
    assert sorted((row.a, row.b) for row in spark.table("columns").collect()) == [(1, 2), (3, 4)]
