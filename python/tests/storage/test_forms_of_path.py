"""Queries that name files by a pattern or one by one, and those of Spark's V2 source: each row once, or an error."""

import os
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import ERRORS, condition_of
from pyspark.sql import DataFrame, SparkSession
from rival import Rival
from small_tables import ROWS, SmallTable, once, write_file

pytestmark = pytest.mark.test_all

PLACES = ("reveal-1", "decided", "retire-1")
"""Steps during the exchange of the first folder's files."""
HALF = "ZORDER_HALF_PUBLISHED"
GONE = "ZORDER_FILES_REPLACED"
NO_FILE = "FAILED_READ_FILE.FILE_NOT_EXIST"
CLASS = "org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat"


@pytest.fixture
def by_v2(spark: SparkSession) -> SparkSession:
    """A session that reads Parquet by Spark's V2 source."""
    session = spark.newSession()
    session.conf.set("spark.sql.sources.useV1SourceList", "")
    return session


def ids(rows: DataFrame) -> Counter[int]:
    return Counter(row[0] for row in rows.select("id").collect())


def patterns(table: SmallTable) -> list[str]:
    """Forms of path that name the table's files."""
    return (
        [f"{table.root}/p=*/*.parquet", f"{table.root}/*/part*"] if table.partitioned else [f"{table.root}/*.parquet"]
    )


@pytest.mark.parametrize("partitioned", [False, True], ids=["flat", "partitioned"])
@pytest.mark.parametrize("place", [pytest.param(p, marks=pytest.mark.test_all) for p in PLACES[:2]] + [PLACES[2]])
def test_patterns_of_files_beside_an_owner_that_stands_still(
    spark: SparkSession, by_v2: SparkSession, rival: Rival, tmp_path: Path, place: str, partitioned: bool
) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned)
    everything = f"{table.root}/p=*/*.parquet" if partitioned else f"{table.root}/*.parquet"
    before = [session.read.parquet(everything) for session in (spark, by_v2)]
    running = rival.pause(table.optimize, place)
    for session in (spark, by_v2):
        made = [
            lambda s=session: s.read.parquet(everything),
            lambda s=session: s.sql(f"SELECT id FROM parquet.`{everything}`"),
            lambda s=session: s.read.format(CLASS).load(everything),
        ]
        for make in made:
            # It may match only some of the new files. Then no side is whole, and the query fails.
            assert found_or_refused(make) in (once(table.ids), HALF)
        assert ids(session.read.parquet(str(table.root))) == once(table.ids)
        reader = session.read.schema("id BIGINT, a INT")
        old = reader.option("pathGlobFilter", "part-?.parquet").parquet(str(table.root))
        new = reader.option("pathGlobFilter", "part-*-zorder-*").parquet(str(table.root))
        assert ids(old) + ids(new) == once(table.ids)
    for frame in before:
        assert found_or_refused(partial(same, frame)) in (once(table.ids), GONE, NO_FILE)
    assert running.error() is None
    for session in (spark, by_v2):
        assert ids(session.read.parquet(everything)) == once(table.ids)


def same(frame: DataFrame) -> DataFrame:
    return frame


def found_or_refused(make: Callable[[], DataFrame]) -> Counter[int] | str:
    """The ids that a query finds, or the condition of its error."""
    try:
        return ids(make())
    except ERRORS as error:
        return condition_of(error)


@pytest.mark.parametrize("partitioned", [False, True], ids=["flat", "partitioned"])
def test_patterns_after_a_kill(spark: SparkSession, by_v2: SparkSession, tmp_path: Path, partitioned: bool) -> None:
    tables = [SmallTable.write(tmp_path / place / str(n), partitioned) for place in PLACES for n in range(5)]
    doomed = Rival(tmp_path / "rival")
    for n, table in enumerate(tables):
        doomed.pause(table.optimize, PLACES[n // 5])
    doomed.kill()
    for n, table in enumerate(tables):
        pattern = patterns(table)[0]
        made = [
            lambda p=pattern: spark.read.parquet(p),
            lambda p=pattern: by_v2.read.parquet(p),
            lambda p=pattern: spark.sql(f"SELECT * FROM parquet.`{p}`"),
            lambda p=pattern: spark.read.format(CLASS).load(p),
            lambda t=table: by_v2.sql(f"SELECT id FROM {t.source}"),
        ][n % 5]
        # Spark matches the pattern before the query finishes what is half done.
        assert found_or_refused(made) in (once(table.ids), HALF, GONE, NO_FILE)
        assert found_or_refused(made) == once(table.ids), table.root


def test_options_of_a_pattern_in_sql(spark: SparkSession, table: SmallTable) -> None:
    spark.sql(table.optimize)
    extra = pa.table({"id": pa.array([1, 2, 3], pa.int64()), "more": ["x", "y", "z"]})
    pq.write_table(extra, table.root / "extra.parquet")
    pattern = f"parquet.`{table.root}/*.parquet`"
    filtered = "WITH ('pathGlobFilter' = 'extra*')"
    assert ids(spark.sql(f"SELECT * FROM {pattern} {filtered}")) == once([1, 2, 3])
    assert ids(spark.read.option("pathGlobFilter", "extra*").table(pattern)) == once([1, 2, 3])
    merged = spark.sql(f"SELECT * FROM {pattern} WITH ('mergeSchema' = 'true')")
    assert "more" in merged.columns
    assert ids(merged) == once(table.ids) + once([1, 2, 3])


@pytest.mark.parametrize("place", ["reveal-1", "decided"])
def test_files_touched_after_a_kill_are_read(
    spark: SparkSession, parted: SmallTable, tmp_path: Path, place: str
) -> None:
    before = set(parted.files())
    owner = Rival(tmp_path / "owner")
    try:
        owner.pause(parted.optimize, place)
    finally:
        owner.kill()
    for path in before & set(parted.files()):
        os.utime(path, (1e9, 1e9))
    assert ids(spark.read.parquet(str(parted.root))) == once(parted.ids)


def test_a_frame_of_files_fails_if_they_are_gone(spark: SparkSession, by_v2: SparkSession, parted: SmallTable) -> None:
    first = [str(f) for f in parted.files()[:4]]
    frames = [session.read.parquet(f"{parted.root}/p=*/*.parquet") for session in (spark, by_v2)]
    frames += [session.read.option("basePath", str(parted.root)).parquet(*first) for session in (spark, by_v2)]
    spark.sql(f"OPTIMIZE {parted.source} WHERE p = 1 ZORDER BY (a) OPTIONS ('num-files' = '2')")
    for frame in frames:
        assert str(found_or_refused(partial(same, frame))) in (GONE, NO_FILE)
    # Files of the other partition are as they were.
    other = spark.read.parquet(*[str(f) for f in parted.folders[1].glob("*.parquet")])
    assert ids(other) == once(range(3 * ROWS, 6 * ROWS))
    spark.sql(f"RESTORE {parted.source} TO VERSION AS OF 0")
    # The files are back under their names.
    assert ids(spark.read.parquet(f"{parted.root}/p=*/*.parquet")) == once(parted.ids)
    for frame, expected in zip(frames, [parted.ids] * 2 + [set(range(4 * ROWS))] * 2, strict=True):
        assert found_or_refused(partial(same, frame)) in (once(expected), GONE, NO_FILE)


def test_every_file_of_a_folder_is_none_of_ours(spark: SparkSession, tmp_path: Path) -> None:
    for partitioned in (False, True):
        table = SmallTable.write(tmp_path / str(partitioned), partitioned)
        spark.sql(table.optimize)
        assert ids(spark.read.parquet(f"{table.root}/*")) == once(table.ids)
        assert ids(spark.read.parquet(f"{table.root}/**")) == once(table.ids)


def test_files_of_one_name_in_turn_are_two(spark: SparkSession, by_v2: SparkSession, table: SmallTable) -> None:
    everything = f"{table.root}/*.parquet"
    first = table.files()[0].name
    spark.sql(f"OPTIMIZE parquet.`{table.root}` ZORDER BY (a)")
    new = write_file(table.root / first, range(10_000, 10_000 + ROWS))
    both = once(set(table.ids) | new)
    spark.sql(f"OPTIMIZE parquet.`{table.root}` FULL ZORDER BY (a)")
    # Both files come back, one of them under another name.
    for version in (0, 1, 0, 2):
        spark.sql(f"RESTORE parquet.`{table.root}` TO VERSION AS OF {version}")
        for session in (spark, by_v2):
            assert ids(session.read.parquet(everything)) == both
        assert table.plain_ids() == both


def test_a_listed_file_is_never_taken_for_another_of_its_name(spark: SparkSession, table: SmallTable) -> None:
    everything = f"{table.root}/*.parquet"
    first = table.files()[0]
    spark.sql(f"OPTIMIZE parquet.`{table.root}` ZORDER BY (a)")
    # A load from an archive, under a name of the first load. Its time stamp is older.
    new = write_file(first, range(10_000, 10_000 + ROWS))
    os.utime(first, (1e9, 1e9))
    both = once(set(table.ids) | new)
    held = spark.read.parquet(everything)
    assert ids(held) == both
    os.utime(first)
    assert ids(held) == both
    # As in plain Spark, it reads the file that is there now.
    newer = write_file(first, range(20_000, 20_000 + 2 * ROWS))
    assert ids(held) == once(set(table.ids) | newer)


def test_a_file_that_is_named_twice_is_read_twice(spark: SparkSession, table: SmallTable) -> None:
    file = str(table.files()[0])
    before = ids(spark.read.parquet(file, file))
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{table.root}`")
    assert ids(spark.read.parquet(file, file)) == before
    assert set(before.values()) == {2}
