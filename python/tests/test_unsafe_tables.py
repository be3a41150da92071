"""Tables whose rows an exchange of files could lose or double are refused, before anything is written."""

from __future__ import annotations

import os
import pwd
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import condition_of
from golden import snapshot
from py4j.protocol import Py4JJavaError
from pyarrow import orc
from pyspark.errors import PySparkException
from small_tables import SmallTable, once, write_file

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ACCEPT_LOSS = "'allow-nanosecond-loss' = 'true'"


def refused(spark: SparkSession, statement: str, condition: str, folder: Path) -> str:
    """The message of a refusal that left the folder as it was."""
    before = snapshot(folder)
    with pytest.raises((PySparkException, Py4JJavaError)) as caught:
        spark.sql(statement).collect()
    assert condition_of(caught.value) == condition, caught.value
    assert snapshot(folder) == before
    return str(caught.value)


# --- Folders ---


def test_a_partition_that_is_a_link_to_another_is_refused_by_both_names(spark: SparkSession, tmp_path: Path) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned=True)
    (table.root / "p=3").symlink_to("p=1")
    message = refused(spark, table.optimize, "ZORDER_SHARED_FOLDER", tmp_path)
    assert str(table.root / "p=1") in message
    assert str(table.root / "p=3") in message
    # A query of the link's partition could not tell that its files are being exchanged.
    refused(spark, f"OPTIMIZE {table.source} WHERE p = 2 ZORDER BY (a)", "ZORDER_SHARED_FOLDER", tmp_path)
    (table.root / "p=3").unlink()
    spark.sql(table.optimize).collect()
    assert table.plain_ids() == once(table.ids)
    (table.root / "p=3").symlink_to("p=1")
    refused(spark, f"RESTORE {table.source} TO VERSION AS OF 0", "ZORDER_SHARED_FOLDER", tmp_path)


def test_a_partition_in_another_by_a_link_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned=True)
    write_file(table.root / "p=1" / "_inner" / "x.parquet", range(1000, 1010))
    (table.root / "p=3").symlink_to("p=1/_inner")
    message = refused(spark, table.optimize, "ZORDER_SHARED_FOLDER", tmp_path)
    assert "the second lies in the first" in message


def test_two_partitions_of_one_location_are_named_by_their_values(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a BIGINT, p INT) USING parquet PARTITIONED BY (p)")
    spark.sql("INSERT INTO t SELECT /*+ REPARTITION(3) */ id, id, 1 FROM range(60)")
    for place in (database / "t" / "p=1", f"{database}/t/../t/p=1/"):
        spark.sql(f"ALTER TABLE t ADD PARTITION (p = 2) LOCATION '{place}'")
        message = refused(spark, "OPTIMIZE t ZORDER BY (a)", "ZORDER_SHARED_FOLDER", database)
        assert "p=1 and p=2" in message
        spark.sql("ALTER TABLE t DROP PARTITION (p = 2)")
        spark.sql("INSERT INTO t SELECT /*+ REPARTITION(3) */ id, id, 1 FROM range(60)")
    spark.sql(f"ALTER TABLE t ADD PARTITION (p = 3) LOCATION '{database}/t'")
    spark.sql("INSERT INTO t SELECT id, id, 3 FROM range(60)")
    message = refused(spark, "OPTIMIZE t ZORDER BY (a)", "ZORDER_SHARED_FOLDER", database)
    assert "lies in the first" in message


def test_a_root_and_a_partition_that_are_links_to_folders_of_their_own_are_optimized(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = SmallTable.write(tmp_path / "real", partitioned=True)
    shutil.move(table.root / "p=2", tmp_path / "elsewhere")
    (table.root / "p=2").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "t").symlink_to("real")
    linked = SmallTable(tmp_path / "t", partitioned=True)
    spark.sql(linked.optimize).collect()
    assert linked.plain_ids() == once(linked.ids) == linked.spark_ids(spark)
    assert len(linked.files()) == 4


# --- Files ---


def as_links(files: list[Path], cache: Path) -> None:
    """Put the files away and relative links in their places, as DVC and git-annex do."""
    cache.mkdir(exist_ok=True)
    for file in files:
        kept = cache / f"{file.parent.name}-{file.name}"
        shutil.move(file, kept)
        file.symlink_to(os.path.relpath(kept, file.parent))


def test_data_files_that_are_links_are_refused_with_the_first_and_their_number(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned=True)
    as_links(table.files()[1:3], tmp_path / "cache")
    message = refused(spark, table.optimize, "ZORDER_LINKED_FILES", tmp_path)
    assert "are links: 2, the first is " + str(table.files()[1]) in message
    assert not (table.root / "_zorder").exists()
    spark.sql(f"OPTIMIZE {table.source} WHERE p = 2 ZORDER BY (a) OPTIONS ('num-files' = '2')").collect()
    assert table.plain_ids() == once(table.ids)


def test_hard_links_are_files_like_any_other(spark: SparkSession, tmp_path: Path) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned=False)
    backup = tmp_path / "backup"
    backup.mkdir()
    for file in table.files():
        (backup / file.name).hardlink_to(file)
    before = snapshot(backup)
    spark.sql(table.optimize).collect()
    assert table.plain_ids() == once(table.ids)
    assert snapshot(backup) == before
    spark.sql(f"RESTORE {table.source} TO VERSION AS OF 0").collect()
    assert table.plain_ids() == once(table.ids)


# --- Options ---


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("pathGlobFilter", "part-0*"),
        ("PATHGLOBFILTER", "*.snappy.parquet"),
        ("modifiedBefore", "2999-01-01T00:00:00"),
        ("modifiedAfter", "2000-01-01T00:00:00"),
        ("recursiveFileLookup", "true"),
        ("ignoreMissingFiles", "true"),
        ("ignoreCorruptFiles", "TRUE"),
        ("mapreduce.input.pathFilter.class", "org.apache.hadoop.mapred.Utils$OutputFileUtils$OutputFilesFilter"),
    ],
)
def test_options_that_choose_files_are_refused(spark: SparkSession, database: Path, option: str, value: str) -> None:
    spark.sql("CREATE TABLE plain USING parquet AS SELECT /*+ REPARTITION(3) */ id, id AS a FROM range(60)")
    spark.sql(
        f"CREATE TABLE t (id BIGINT, a BIGINT) USING parquet OPTIONS ('{option}' '{value}') "
        f"LOCATION '{database / 'plain'}'"
    )
    if "." not in option:
        assert spark.table("t").count() in (0, 20, 60)
    message = refused(spark, "OPTIMIZE t ZORDER BY (a)", "ZORDER_UNSAFE_OPTION", database)
    assert option.lower() in message.lower()
    assert value in message
    spark.sql("OPTIMIZE plain ZORDER BY (a) OPTIONS ('num-files' = '2')").collect()


def test_a_path_filter_of_the_session_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned=False)
    spark.conf.set(
        "mapreduce.input.pathFilter.class", "org.apache.hadoop.mapred.Utils$OutputFileUtils$OutputFilesFilter"
    )
    refused(spark, table.optimize, "ZORDER_UNSAFE_OPTION", tmp_path)
    spark.conf.unset("mapreduce.input.pathFilter.class")
    spark.sql(table.optimize).collect()
    assert table.plain_ids() == once(table.ids)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("pathGlobFilter", "*.parquet"),
        ("recursiveFileLookup", "false"),
        ("ignoreMissingFiles", "false"),
        ("mergeSchema", "true"),
        ("datetimeRebaseMode", "CORRECTED"),
        ("int96RebaseMode", "LEGACY"),
    ],
)
def test_options_that_leave_all_files_alone_are_taken(
    spark: SparkSession, database: Path, option: str, value: str
) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, a BIGINT, at TIMESTAMP) USING parquet OPTIONS ('{option}' '{value}')")
    spark.sql(
        "INSERT INTO t SELECT /*+ REPARTITION(3) */ id, id, TIMESTAMP'1500-01-01' + make_dt_interval(CAST(id AS INT)) "
        "FROM range(60)"
    )
    before = sorted(spark.table("t").collect())
    spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '2')").collect()
    assert sorted(spark.table("t").collect()) == before
    assert len(before) == 60


def test_orc_columns_by_position_are_refused_as_an_option(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a BIGINT) USING orc OPTIONS ('orc.force.positional.evolution' 'true')")
    spark.sql("INSERT INTO t SELECT /*+ REPARTITION(3) */ id, id FROM range(60)")
    refused(spark, "OPTIMIZE t ZORDER BY (a)", "ZORDER_UNSAFE_OPTION", database)


def test_an_index_of_orc_columns_by_position_skips_no_row(spark: SparkSession, database: Path) -> None:
    folder = database / "files"
    folder.mkdir()
    for i in (0, 1000):
        columns = {"a": pa.array(range(i + 100, i + 200), pa.int64()), "id": pa.array(range(i, i + 100), pa.int64())}
        orc.write_table(pa.table(columns), folder / f"{i}.orc")
    spark.sql(
        "CREATE TABLE t (id BIGINT, a BIGINT) USING orc OPTIONS ('orc.force.positional.evolution' 'true') "
        f"LOCATION '{folder}'"
    )
    spark.sql("CREATE SKIPPING INDEX ON t").collect()
    assert spark.sql("SELECT count(*) FROM t WHERE id = 150").collect()[0][0] == 1


# --- Nanoseconds ---


def instants(count: int, step: int) -> pa.Array:
    """Instants in nanoseconds, with nulls among them."""
    return pa.array(
        [None if i % 7 == 3 else 1_600_000_000_000_000_000 + i * step for i in range(count)], pa.timestamp("ns")
    )


def write_instants(folder: Path, file_format: str, steps: list[int], dictionary: bool = True) -> None:
    """A file for each step: steps of 1000 are whole microseconds."""
    folder.mkdir()
    for i, step in enumerate(steps):
        at = instants(300, step)
        columns: dict[str, Any] = {"id": pa.array(range(i * 300, i * 300 + 300), pa.int64()), "at": at}
        columns["s"] = pa.StructArray.from_arrays([pa.ListArray.from_arrays(list(range(301)), at)], ["l"])
        if file_format == "orc":
            orc.write_table(pa.table(columns), folder / f"{i}.orc", compression="snappy")
        else:
            pq.write_table(
                pa.table(columns),
                folder / f"{i}.parquet",
                use_deprecated_int96_timestamps=True,
                use_dictionary=dictionary,
                row_group_size=100,
            )


@pytest.mark.parametrize("file_format", ["parquet", "parquet_plain", "orc"])
def test_timestamps_finer_than_microseconds_are_refused_unless_the_loss_is_accepted(
    spark: SparkSession, tmp_path: Path, file_format: str
) -> None:
    folder = tmp_path / "t"
    name = file_format.split("_")[0]
    write_instants(folder, name, [1000, 2001, 1000], "plain" not in file_format)
    statement = f"OPTIMIZE {name}.`{folder}` ZORDER BY (id)"
    message = refused(spark, statement, "ZORDER_NANOSECONDS", tmp_path)
    assert f"1.{name}" in message
    assert "`at`" in message
    before = sorted(spark.sql(f"SELECT * FROM {name}.`{folder}`").collect())
    spark.sql(f"{statement} OPTIONS ('num-files' = '2', {ACCEPT_LOSS})").collect()
    assert sorted(spark.sql(f"SELECT * FROM {name}.`{folder}`").collect()) == before
    # Now all of it is Spark's own.
    spark.sql(f"OPTIMIZE {name}.`{folder}` FULL ZORDER BY (id) OPTIONS ('num-files' = '3')").collect()
    assert sorted(spark.sql(f"SELECT * FROM {name}.`{folder}`").collect()) == before


@pytest.mark.parametrize("file_format", ["parquet", "parquet_plain", "orc"])
def test_whole_microseconds_of_other_writers_are_rewritten(
    spark: SparkSession, tmp_path: Path, file_format: str
) -> None:
    folder = tmp_path / "t"
    name = file_format.split("_")[0]
    write_instants(folder, name, [1000, 5000], "plain" not in file_format)
    before = sorted(spark.sql(f"SELECT * FROM {name}.`{folder}`").collect())
    spark.sql(f"OPTIMIZE {name}.`{folder}` ZORDER BY (id) OPTIONS ('num-files' = '3')").collect()
    assert sorted(spark.sql(f"SELECT * FROM {name}.`{folder}`").collect()) == before


@pytest.mark.parametrize("dictionary", [True, False])
def test_nanoseconds_deep_in_lists_and_structs_are_found(spark: SparkSession, tmp_path: Path, dictionary: bool) -> None:
    for file_format in ("parquet", "orc"):
        folder = tmp_path / file_format
        folder.mkdir()
        deep = pa.array(
            [{"m": [("k", None), ("l", 7)]}, None, {"m": []}, {"m": [("x", 1_000_001)]}] * 50,
            pa.struct([("m", pa.map_(pa.string(), pa.timestamp("ns")))]),
        )
        only_first = deep.slice(1, 2)
        columns = {"id": pa.array(range(200), pa.int64()), "d": deep}
        for i, table in enumerate((pa.table({"id": [1, 2], "d": only_first}), pa.table(columns))):
            if file_format == "orc":
                orc.write_table(table, folder / f"{i}.orc")
            else:
                pq.write_table(
                    table, folder / f"{i}.parquet", use_deprecated_int96_timestamps=True, use_dictionary=dictionary
                )
        statement = f"OPTIMIZE {file_format}.`{folder}` ZORDER BY (id)"
        message = refused(spark, statement, "ZORDER_NANOSECONDS", folder)
        assert "`d`.`m`" in message


def test_spark_metadata_in_a_file_of_another_writer_proves_nothing(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    spark.range(300).selectExpr("id", "timestamp_seconds(id) AS at").repartition(2).write.parquet(str(folder))
    [first, *_] = sorted(folder.glob("*.parquet"))
    read = pq.read_table(first)
    finer = pa.array([1_000_000_001 * (i + 1) for i in range(read.num_rows)], pa.timestamp("ns"))
    copied = read.set_column(1, "at", finer).replace_schema_metadata(
        {**pq.read_metadata(first).metadata, b"org.apache.spark.version": b"4.0.0"}
    )
    pq.write_table(copied, folder / "copied.parquet", use_deprecated_int96_timestamps=True)
    assert b"org.apache.spark.version" in pq.read_metadata(folder / "copied.parquet").metadata
    refused(spark, f"OPTIMIZE parquet.`{folder}` ZORDER BY (id)", "ZORDER_NANOSECONDS", tmp_path)


# --- Names ---


@pytest.mark.parametrize("character", ["x", "ä", "😀"])
def test_names_of_255_bytes_go_to_the_trash_and_come_back(spark: SparkSession, tmp_path: Path, character: str) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned=False)
    width = len(character.encode())
    for i, file in enumerate(table.files()):
        stem = f"{i}" + character * ((255 - len(".parquet") - 4) // width)
        name = stem + "y" * (255 - len((stem + ".parquet").encode())) + ".parquet"
        assert len(name.encode()) == 255
        file.rename(file.with_name(name))
    before = {f.name: (f.read_bytes(), f.stat().st_mtime_ns) for f in table.files()}
    spark.sql(table.optimize).collect()
    assert table.plain_ids() == once(table.ids) == table.spark_ids(spark)
    assert len(table.files()) == 2
    spark.sql(f"RESTORE {table.source} TO VERSION AS OF 0").collect()
    assert {f.name: (f.read_bytes(), f.stat().st_mtime_ns) for f in table.files()} == before
    spark.sql(f"RESTORE {table.source} TO VERSION AS OF 1").collect()
    spark.sql(f"VACUUM {table.source} RETAIN 0 HOURS").collect()
    assert table.plain_ids() == once(table.ids)


# --- Owners ---


@pytest.mark.skipif(os.geteuid() != 0, reason="only an administrator may give files to others")
@pytest.mark.parametrize("partitioned", [False, True])
def test_what_an_administrator_writes_belongs_to_the_owner_of_the_table(
    spark: SparkSession, tmp_path: Path, partitioned: bool
) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned)
    nobody = pwd.getpwnam("nobody")
    for path in (table.root, *table.root.rglob("*")):
        os.chown(path, nobody.pw_uid, nobody.pw_gid)
        if path.is_file():
            path.chmod(0o640)
    spark.sql(table.optimize).collect()
    found = {p: p.stat() for p in (table.root, *table.root.rglob("*"))}
    assert {(s.st_uid, s.st_gid) for p, s in found.items() if p.suffix != ".crc"} == {(nobody.pw_uid, nobody.pw_gid)}
    assert {s.st_mode & 0o777 for p, s in found.items() if p in table.files()} == {0o640}
    spark.sql(f"RESTORE {table.source} TO VERSION AS OF 0").collect()
    assert {p.owner() for p in table.root.rglob("*") if p.suffix != ".crc"} == {"nobody"}
    assert table.plain_ids() == once(table.ids)
