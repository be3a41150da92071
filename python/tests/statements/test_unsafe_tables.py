"""OPTIMIZE refuses tables whose rows an exchange of files could lose or double, before it writes anything."""

import datetime
import os
import pwd
import shutil
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import ERRORS, condition_of, settings
from golden import snapshot
from pyarrow import orc
from pyspark.sql import SparkSession
from small_tables import SmallTable, once, write_file

pytestmark = pytest.mark.test_all

OLD_DAY = datetime.date(1500, 1, 1)
ACCEPT_LOSS = "'allow-nanosecond-loss' = 'true'"


def refused(spark: SparkSession, statement: str, condition: str, folder: Path) -> str:
    """Check that a statement is refused and leaves the folder as it was. Returns the message."""
    before = snapshot(folder)
    with pytest.raises(ERRORS) as caught:
        spark.sql(statement).collect()
    assert condition_of(caught.value) == condition, caught.value
    assert snapshot(folder) == before
    return str(caught.value)


# --- Folders ---


def test_a_linked_partition_is_refused_by_both_names(spark: SparkSession, parted: SmallTable, tmp_path: Path) -> None:
    (parted.root / "p=3").symlink_to("p=1")
    message = refused(spark, parted.optimize, "ZORDER_UNSAFE_TABLE.SHARED_FOLDER", tmp_path)
    assert str(parted.root / "p=1") in message
    assert str(parted.root / "p=3") in message
    # A query of the link's partition would not notice that its files are being exchanged.
    refused(spark, f"OPTIMIZE {parted.source} WHERE p = 2 ZORDER BY (a)", "ZORDER_UNSAFE_TABLE.SHARED_FOLDER", tmp_path)
    (parted.root / "p=3").unlink()
    spark.sql(parted.optimize).collect()
    assert parted.plain_ids() == once(parted.ids)
    (parted.root / "p=3").symlink_to("p=1")
    refused(spark, f"RESTORE {parted.source} TO VERSION AS OF 0", "ZORDER_UNSAFE_TABLE.SHARED_FOLDER", tmp_path)


def test_a_folder_with_files_in_a_partition_is_no_link(spark: SparkSession, parted: SmallTable, tmp_path: Path) -> None:
    more = write_file(parted.root / "p=1" / "extra" / "x.parquet", range(1000, 1010))
    assert parted.spark_ids(spark) == once(parted.ids | more)
    message = refused(spark, parted.optimize, "ZORDER_UNSAFE_TABLE.SHARED_FOLDER", tmp_path)
    assert f"{parted.root}/p=1 and {parted.root}/p=1/extra of {parted.source} share their files" in message
    assert "the second is a folder inside the first" in message
    assert "Move the files of the second into the first, or out of it" in message
    assert "link" not in message
    # In a table without partitions Spark does not read such a folder.
    flat = SmallTable.write(tmp_path / "flat", partitioned=False)
    write_file(flat.root / "extra" / "x.parquet", range(1000, 1010))
    spark.sql(flat.optimize).collect()
    assert flat.spark_ids(spark) == once(flat.ids)


def test_a_root_and_a_partition_that_are_links_elsewhere_are_optimized(spark: SparkSession, tmp_path: Path) -> None:
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
    """Move the files elsewhere and put relative links in their places, as DVC and git-annex do."""
    cache.mkdir(exist_ok=True)
    for file in files:
        kept = cache / f"{file.parent.name}-{file.name}"
        shutil.move(file, kept)
        file.symlink_to(os.path.relpath(kept, file.parent))


def test_data_files_that_are_links_are_counted(spark: SparkSession, parted: SmallTable, tmp_path: Path) -> None:
    as_links(parted.files()[1:3], tmp_path / "cache")
    message = refused(spark, parted.optimize, "ZORDER_UNSAFE_TABLE.LINKED_FILES", tmp_path)
    assert "are links: 2, the first is " + str(parted.files()[1]) in message
    assert not (parted.root / "_zorder").exists()
    spark.sql(f"OPTIMIZE {parted.source} WHERE p = 2 ZORDER BY (a) OPTIONS ('num-files' = '2')").collect()
    assert parted.plain_ids() == once(parted.ids)


def test_hard_links_are_files_like_any_other(spark: SparkSession, table: SmallTable, tmp_path: Path) -> None:
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
    ("setting", "value"),
    [
        ("mapreduce.input.pathFilter.class", "org.apache.hadoop.mapred.Utils$OutputFileUtils$OutputFilesFilter"),
        ("spark.sql.files.ignoredPathSegmentRegex", "^[.]"),
    ],
)
def test_choosing_is_refused(spark: SparkSession, table: SmallTable, tmp_path: Path, setting: str, value: str) -> None:
    with settings(spark, **{setting: value}):
        refused(spark, table.optimize, "ZORDER_UNSAFE_TABLE.OPTION", tmp_path)
    spark.sql(table.optimize).collect()
    assert table.plain_ids() == once(table.ids)


# --- Calendars ---

REBASE = "spark.sql.parquet.datetimeRebaseModeInRead"
INT96_REBASE = "spark.sql.parquet.int96RebaseModeInRead"


def write_old_days(folder: Path, int96: bool) -> None:
    """Write files that do not record their calendar, with ancient days in a list of a struct."""
    folder.mkdir()
    kind, value = (pa.timestamp("us"), datetime.datetime(1500, 1, 1)) if int96 else (pa.date32(), OLD_DAY)
    for i in range(3):
        days = pa.array([[value]] * 2, pa.list_(kind))
        columns = {"id": pa.array([2 * i, 2 * i + 1]), "s": pa.StructArray.from_arrays([days], ["l"])}
        pq.write_table(pa.table(columns), folder / f"{i}.parquet", use_deprecated_int96_timestamps=int96)


@pytest.mark.parametrize("int96", [False, True])
def test_a_julian_session_is_refused_for_silent_files(spark: SparkSession, tmp_path: Path, int96: bool) -> None:
    folder = tmp_path / "t"
    write_old_days(folder, int96)
    before = pq.read_table(folder).to_pylist()
    statement = f"OPTIMIZE parquet.`{folder}` ZORDER BY (id) OPTIONS ('num-files' = '2')"
    key, other = (INT96_REBASE, REBASE) if int96 else (REBASE, INT96_REBASE)
    with settings(spark, **{key: "legacy"}):
        message = refused(spark, statement, "ZORDER_UNSAFE_TABLE.OPTION", tmp_path)
    assert key in message
    assert "`s`.`l`.`list`." in message
    # The other setting is for other columns.
    with settings(spark, **{other: "LEGACY"}):
        spark.sql(statement).collect()
    assert sorted(pq.read_table(folder).to_pylist(), key=lambda row: row["id"]) == before


@pytest.mark.parametrize("of_table", ["LEGACY", "CORRECTED"])
def test_the_calendar_of_a_table_wins_over_the_session(spark: SparkSession, database: Path, of_table: str) -> None:
    folder = database / "files"
    write_old_days(folder, int96=False)
    spark.sql(
        f"CREATE TABLE t (id BIGINT, s STRUCT<l: ARRAY<DATE>>) USING parquet "
        f"OPTIONS ('datetimeREBASEmode' '{of_table}') LOCATION '{folder}'"
    )
    statement = "OPTIMIZE t ZORDER BY (id) OPTIONS ('num-files' = '2')"
    spark.conf.set(REBASE, "CORRECTED" if of_table == "LEGACY" else "LEGACY")
    if of_table == "LEGACY":
        assert "rebasemode" in refused(spark, statement, "ZORDER_UNSAFE_TABLE.OPTION", database).lower()
    else:
        spark.sql(statement).collect()
    assert {row["l"][0] for row in pq.read_table(folder)["s"].to_pylist()} == {OLD_DAY}


# --- Nanoseconds ---


def instants(count: int, step: int) -> pa.Array:
    """Instants in nanoseconds, some of them null."""
    return pa.array([None if i % 7 == 3 else 16 * 10**17 + i * step for i in range(count)], pa.timestamp("ns"))


def write_instants(folder: Path, file_format: str, steps: list[int], dictionary: bool = True) -> None:
    """Write a file for each step. Steps of 1000 are whole microseconds."""
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
def test_nanoseconds_are_refused_or_cut_as_asked(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "t"
    name = file_format.split("_")[0]
    write_instants(folder, name, [1000, 2001, 1000], "plain" not in file_format)
    statement = f"OPTIMIZE {name}.`{folder}` ZORDER BY (id)"
    message = refused(spark, statement, "ZORDER_UNSAFE_FILES.NANOSECONDS", tmp_path)
    assert f"1.{name}" in message
    assert "`at`" in message
    before = sorted(spark.sql(f"SELECT * FROM {name}.`{folder}`").collect())
    spark.sql(f"{statement} OPTIONS ('num-files' = '2', {ACCEPT_LOSS})").collect()
    assert sorted(spark.sql(f"SELECT * FROM {name}.`{folder}`").collect()) == before
    # Now all files are Spark's own.
    spark.sql(f"OPTIMIZE {name}.`{folder}` FULL ZORDER BY (id) OPTIONS ('num-files' = '3')").collect()
    assert sorted(spark.sql(f"SELECT * FROM {name}.`{folder}`").collect()) == before


@pytest.mark.parametrize("file_format", ["parquet", "parquet_plain", "orc"])
def test_whole_microseconds_of_others_are_rewritten(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
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
        message = refused(spark, statement, "ZORDER_UNSAFE_FILES.NANOSECONDS", folder)
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
    refused(spark, f"OPTIMIZE parquet.`{folder}` ZORDER BY (id)", "ZORDER_UNSAFE_FILES.NANOSECONDS", tmp_path)


# --- Names ---


@pytest.mark.parametrize("character", ["x", "ä", "😀"])
def test_names_of_255_bytes_go_to_trash_and_return(spark: SparkSession, table: SmallTable, character: str) -> None:
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


@pytest.mark.parametrize("name", ["a`b", "a``b", "`a`"])
@pytest.mark.parametrize("kind", ["column", "field", "element"])
def test_orc_names_with_a_backtick_are_refused(spark: SparkSession, tmp_path: Path, name: str, kind: str) -> None:
    """ORC's reader takes a backtick for a quote, and a rewrite gave the column the name that it reads."""
    columns: dict[str, Any] = {
        "column": {"id": range(4), name: range(4)},
        "field": {"id": range(4), "s": [{name: i} for i in range(4)]},
        "element": {"id": range(4), "s": [[{name: i}] for i in range(4)]},
    }
    for i, folder in enumerate((tmp_path / "p=1", tmp_path / "p=1", tmp_path / "p=2", tmp_path / "p=2")):
        folder.mkdir(exist_ok=True)
        orc.write_table(pa.table(columns[kind] if i < 2 else {"id": range(4)}), folder / f"{i}.orc")
    by_path = f"orc.`{tmp_path}`"
    message = refused(spark, f"OPTIMIZE {by_path} ZORDER BY (id)", "ZORDER_UNSAFE_FILES.SCHEMA_DRIFT", tmp_path)
    assert f"column {name}: ORC's reader takes a backtick" in message
    spark.sql(f"OPTIMIZE {by_path} WHERE p = 2 ZORDER BY (id) OPTIONS ('num-files' = '1')").collect()
    assert spark.sql(f"SELECT id FROM {by_path}").count() == 16


def test_bytes_as_differences_of_a_writer_without_a_version_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    """parquet-java does not read them row by row, and the vectorized reader misreads pages without a codec."""
    for i in range(2):
        file = tmp_path / f"{i}.parquet"
        data = pa.table({"id": range(4), "t": ["a", "ab", "abc", "abd"]})
        pq.write_table(data, file, use_dictionary=False, column_encoding={"t": "DELTA_BYTE_ARRAY"})
        file.write_bytes(file.read_bytes().replace(b"parquet-cpp-arrow version", b"parquet-cpp-arrow-version"))
    by_path = f"parquet.`{tmp_path}`"
    message = refused(spark, f"OPTIMIZE {by_path} ZORDER BY (id)", "ZORDER_UNSAFE_FILES.SCHEMA_DRIFT", tmp_path)
    assert "DELTA_BYTE_ARRAY" in message
    spark.sql(f"CREATE SKIPPING INDEX ON {by_path} (id VALUES, t VALUES)").collect()
    assert spark.sql(f"SELECT * FROM {by_path} WHERE t = 'abd' AND id = 3").count() == 2


# --- Owners ---


@pytest.mark.skipif(os.geteuid() != 0, reason="only an administrator may give files to others")
@pytest.mark.parametrize("partitioned", [False, True])
def test_the_owner_of_the_table_owns_what_root_writes(spark: SparkSession, tmp_path: Path, partitioned: bool) -> None:
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
