"""RESTORE and VACUUM on real files: what they bring back, refuse and delete."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException, PySparkException
from small_tables import ROWS, SmallTable, once, sealed, write_file

from spark_zorder import ZOrderTable, explain_skipping
from spark_zorder.errors import condition_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.older_sparks


@pytest.fixture(params=[False, True], ids=["flat", "partitioned"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> SmallTable:
    """Three files, or two partitions of three files each."""
    return SmallTable.write(tmp_path / "t", request.param)


@pytest.fixture
def table(spark: SparkSession, folder: SmallTable) -> ZOrderTable:
    """The folder as a table."""
    return ZOrderTable.for_path(spark, str(folder.root), "parquet")


def optimize(table: ZOrderTable, folder: SmallTable, files: int, **options: object) -> None:
    """Rewrite all files into this number of files in each folder."""
    named = {"num-files": files * len(folder.folders)} | {k.replace("_", "-"): v for k, v in options.items()}
    table.optimize(["a"], full=True, options=named)


def contents(folder: SmallTable) -> dict[str, tuple[str, int]]:
    """Each data file with a digest of its bytes and its modification time."""
    return {
        str(f.relative_to(folder.root)): (hashlib.sha256(f.read_bytes()).hexdigest(), f.stat().st_mtime_ns)
        for f in folder.files()
    }


def trash(folder: SmallTable) -> list[Path]:
    """All retired files."""
    return sorted(folder.root.rglob("*.retired"))


def states(table: ZOrderTable) -> list[str]:
    """The states in the history, oldest version first."""
    return [row.state for row in reversed(table.describe_history().collect())]


@pytest.mark.test_rest
def test_each_version_comes_back_byte_for_byte(spark: SparkSession, folder: SmallTable, table: ZOrderTable) -> None:
    versions = [contents(folder)]
    frame = spark.read.parquet(str(folder.root)).select("id")
    for files in (2, 4):
        optimize(table, folder, files)
        versions.append(contents(folder))
    for version in (0, 2, 1, 0, 1):
        before = len(folder.files())
        result = table.restore(version)
        assert contents(folder) == versions[version]
        assert folder.plain_ids() == folder.spark_ids(spark) == once(folder.ids)
        assert once(row.id for row in frame.select("id").collect()) == once(folder.ids)
        assert result.files_removed == before
        assert result.files_restored == result.files == len(versions[version])
        assert result.bytes == sum(f.stat().st_size for f in folder.files())
    assert folder.leftovers(7) == []
    assert states(table) == ["committed", *["restored"] * 5, "committed"]


@pytest.mark.test_rest
def test_what_others_appended_stays(spark: SparkSession, folder: SmallTable, table: ZOrderTable) -> None:
    first = contents(folder)
    optimize(table, folder, 2)
    ids = folder.ids | write_file(folder.folders[-1] / "later.parquet", range(1000, 1000 + ROWS))
    # One of these two is still there, and the other was rewritten.
    optimize(table, folder, 3)
    ids |= write_file(folder.folders[0] / "last.parquet", range(2000, 2000 + ROWS))
    table.restore(0)
    found = contents(folder)
    assert first.items() <= found.items()
    assert {Path(name).name for name in found.keys() - first.keys()} == {"later.parquet", "last.parquet"}
    assert folder.plain_ids() == folder.spark_ids(spark) == once(ids)


def test_a_change_by_another_is_refused_by_name(spark: SparkSession, folder: SmallTable, table: ZOrderTable) -> None:
    optimize(table, folder, 2)
    changed, deleted = folder.files()[:2]
    new = write_file(changed, range(1000, 1000 + ROWS))
    # If Hadoop's checksum stays beside a changed file, no Spark session can read the file.
    changed.with_name(f".{changed.name}.crc").unlink(missing_ok=True)
    deleted.unlink()
    before = contents(folder)
    with pytest.raises(AnalysisException) as refused:
        table.restore(0)
    assert condition_of(refused.value) == "ZORDER_CANNOT_RESTORE.CHANGED_FILES"
    for file in (changed, deleted):
        assert str(file.relative_to(folder.root)) in str(refused.value)
    assert contents(folder) == before
    assert new <= folder.spark_ids(spark).keys()


@pytest.mark.test_rest
def test_a_file_whose_name_is_taken_comes_back_by_another(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable
) -> None:
    first = contents(folder)
    optimize(table, folder, 2)
    taken = folder.folders[-1] / "part-1.parquet"
    ids = folder.ids | write_file(taken, range(1000, 1000 + ROWS))
    table.restore(0)
    assert folder.plain_ids() == folder.spark_ids(spark) == once(ids)
    # It is the same file under another name.
    found = contents(folder)
    assert first[str(taken.relative_to(folder.root))] in found.values()
    assert sum("-restored-" in name for name in found) == 1
    assert table.describe_history().collect()[0].operationMetrics["numRenamedFiles"] == "1"
    table.restore(1)
    table.restore(0)
    assert folder.plain_ids() == folder.spark_ids(spark) == once(ids)


FAILURES = (PySparkException, Py4JJavaError)
"""The error of a statement that fails while it runs."""


def flip(file: Path, at: int) -> None:
    """Change one byte, so that length and modification time stay the same."""
    before = file.stat()
    content = bytearray(file.read_bytes())
    content[at] ^= 1
    file.write_bytes(content)
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


@pytest.mark.test_rest
def test_a_damaged_footer_is_found_before_anything_moves(folder: SmallTable, table: ZOrderTable) -> None:
    optimize(table, folder, 2)
    damaged = trash(folder)[1]
    flip(damaged, -1)
    before = contents(folder)
    with pytest.raises(FAILURES, match=rf"ZORDER_CANNOT_RESTORE.DAMAGED_FILES.*{re.escape(damaged.name)}"):
        table.restore(0)
    assert contents(folder) == before
    flip(damaged, -1)
    table.restore(0)
    assert folder.plain_ids() == once(folder.ids)


def test_a_damaged_page_is_found_by_its_checksum(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "t"
    spark.range(1000).selectExpr("id", "id % 7 AS a").repartition(3).write.parquet(str(root))
    table = ZOrderTable.for_path(spark, str(root))
    table.optimize(["a"], options={"num-files": 2})
    damaged = min(root.rglob("*.retired"))
    assert damaged.with_name(f".{damaged.name}.crc").exists()
    flip(damaged, 100)
    before = sorted(root.glob("*.parquet"))
    with pytest.raises(FAILURES, match=rf"ZORDER_CANNOT_RESTORE.DAMAGED_FILES.*{re.escape(damaged.name)}"):
        table.restore(0)
    assert sorted(root.glob("*.parquet")) == before
    flip(damaged, 100)
    table.restore(0)
    assert spark.read.parquet(str(root)).count() == 1000


@pytest.mark.test_rest
@pytest.mark.parametrize("deleted", ["one", "all"])
def test_rows_of_deleted_files_come_back_with_the_option(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable, deleted: str
) -> None:
    first = contents(folder)
    optimize(table, folder, 2)
    files = folder.files()
    lost = files[:1] if deleted == "one" else files
    for file in lost:
        file.unlink()
        file.with_name(f".{file.name}.crc").unlink(missing_ok=True)
    ids = folder.ids
    if folder.folders[-1] not in {file.parent for file in lost}:
        ids = ids | write_file(folder.folders[-1] / "later.parquet", range(1000, 1000 + ROWS))
    before = contents(folder)
    with pytest.raises(AnalysisException) as refused:
        table.restore(0)
    assert condition_of(refused.value) == "ZORDER_CANNOT_RESTORE.LOST_FILES"
    assert "add OPTIONS ('lost-files' = 'restore')" in str(refused.value)
    assert str(lost[0].relative_to(folder.root)) in str(refused.value)
    with pytest.raises(AnalysisException, match=r"ZORDER_INVALID_OPTION\.VALUE.*'restore'"):
        table.restore(0, options={"lost-files": "keep"})
    assert contents(folder) == before
    result = table.restore(0, options={"lost-files": "restore"})
    assert first.items() <= contents(folder).items()
    assert folder.plain_ids() == folder.spark_ids(spark) == once(ids)
    assert (result.files_removed, result.files_restored) == (len(files) - len(lost), len(first))
    assert result.files == len(folder.files())
    [restored] = table.history(1).collect()
    assert restored.operationParameters == {"version": "0", "lost-files": "restore"}
    assert restored.operationMetrics["numLostFiles"] == str(len(lost))
    with pytest.raises(AnalysisException, match=r"ZORDER_CANNOT_RESTORE\.FILES_GONE"):
        table.restore(1, options={"lost-files": "restore"})
    # From here on, everything is as on any other day.
    optimize(table, folder, 3)
    table.restore(2)
    table.restore(0)
    assert folder.plain_ids() == folder.spark_ids(spark) == once(ids)
    assert folder.leftovers(5) == []


@pytest.mark.test_rest
def test_with_nothing_lost_the_option_changes_nothing(folder: SmallTable, table: ZOrderTable) -> None:
    first = contents(folder)
    optimize(table, folder, 2)
    table.restore(0, options={"LOST-FILES": "Restore"})
    assert contents(folder) == first
    [restored] = table.history(1).collect()
    assert "numLostFiles" not in restored.operationMetrics
    table.restore(1)
    with pytest.raises(AnalysisException, match=r"ZORDER_INVALID_OPTION\.UNKNOWN.*lost-files"):
        table.restore(0, options={"num-files": 4})


@pytest.mark.test_rest
@pytest.mark.parametrize("mode", ["in-place", "new-location"])
def test_a_table_of_the_catalog_goes_back_without_deleted_files(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    spark.sql("DROP TABLE IF EXISTS lost_files")
    spark.sql(
        f"CREATE TABLE lost_files USING parquet LOCATION '{tmp_path / 't'}' AS SELECT id, id % 7 AS a FROM range(100)"
    )
    try:
        table = ZOrderTable(spark, "lost_files")
        table.optimize(["a"], num_files=4, options={"commit.mode": mode})
        [optimized] = table.history(1).collect()
        location = Path(spark.table("lost_files").inputFiles()[0].removeprefix("file:")).parent
        sorted(location.glob("*.parquet"))[0].unlink()
        spark.sql("REFRESH TABLE lost_files")
        assert spark.table("lost_files").count() < 100
        with pytest.raises(AnalysisException, match=r"ZORDER_CANNOT_RESTORE\.LOST_FILES"):
            table.restore(0)
        table.restore(timestamp="2020-01-01", options={"lost-files": "restore"})
        assert sorted(row.id for row in spark.table("lost_files").collect()) == list(range(100))
        assert table.history(1).collect()[0].operationMetrics["numLostFiles"] == "1"
        with pytest.raises(AnalysisException, match=r"ZORDER_CANNOT_RESTORE\.FILES_GONE"):
            table.restore(optimized.version, options={"lost-files": "restore"})
        table.optimize(["id"], num_files=3)
        table.restore(0)
        assert sorted(row.id for row in spark.table("lost_files").collect()) == list(range(100))
    finally:
        spark.sql("DROP TABLE lost_files")


@pytest.mark.test_rest
@pytest.mark.parametrize("versions", [1, 2])
@pytest.mark.parametrize("how", [shutil.copy2, shutil.copy])
def test_a_lost_file_that_comes_back_to_a_folder_that_was_left_doubles_no_row(
    spark: SparkSession, tmp_path: Path, versions: int, how: Callable[[Path, Path], object]
) -> None:
    spark.sql("DROP TABLE IF EXISTS lost_files")
    spark.sql(f"CREATE TABLE lost_files USING parquet LOCATION '{tmp_path / 't'}' AS SELECT id FROM range(100)")
    try:
        table = ZOrderTable(spark, "lost_files")
        table.optimize(["id"], num_files=4, options={"commit.mode": "new-location"})
        lost = Path(sorted(spark.table("lost_files").inputFiles())[0].removeprefix("file:"))
        shutil.copy2(lost, tmp_path / "lost")
        lost.unlink()
        spark.sql("REFRESH TABLE lost_files")
        if versions == 2:
            # The folder is left twice: by this statement, and by the RESTORE past it.
            table.optimize(["id"], num_files=2, full=True)
        table.restore(0, options={"lost-files": "restore"})
        time.sleep(0.01)
        how(tmp_path / "lost", lost)
        if how is shutil.copy:
            # It may be another file with its name.
            with pytest.raises(PySparkException, match=r"STALE_APPENDS"):
                table.refresh_skipping_index()
        else:
            table.refresh_skipping_index()
            table.optimize(["id"], num_files=3, full=True)
            spark.sql("REFRESH TABLE lost_files")
            assert sorted(row.id for row in spark.table("lost_files").collect()) == list(range(100))
    finally:
        spark.sql("DROP TABLE lost_files")


@pytest.mark.test_rest
@pytest.mark.parametrize("what", ["renamed", "overwritten", "appended"])
def test_files_beside_a_lost_one_may_have_its_rows(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable, tmp_path: Path, what: str
) -> None:
    optimize(table, folder, 2)
    there = folder.folders[0]
    first = sorted(there.glob("*.parquet"))
    other = there / "other.parquet"
    if what == "renamed":
        first[0].rename(other)
    elif what == "appended":
        first[0].unlink()
        write_file(other, range(10_000, 10_000 + ROWS))
    else:
        pq.write_table(pa.concat_tables([pq.read_table(file) for file in first]), other)
        for file in first:
            file.unlink()
    for options in ({}, {"lost-files": "restore"}):
        with pytest.raises(AnalysisException, match=r"ZORDER_CANNOT_RESTORE\.FILES_BESIDE_LOST.*other\.parquet"):
            table.restore(0, options=options)
    other.rename(tmp_path / "other.parquet")
    table.restore(0, options={"lost-files": "restore"})
    assert folder.plain_ids() == folder.spark_ids(spark) == once(folder.ids)


@pytest.mark.test_rest
def test_all_files_of_a_folder_were_deleted(spark: SparkSession, folder: SmallTable, table: ZOrderTable) -> None:
    optimize(table, folder, 2)
    for file in folder.files():
        file.unlink()
    with pytest.raises(AnalysisException, match=r"ZORDER_CANNOT_RESTORE\.LOST_FILES"):
        table.restore(0)
    table.restore(0, options={"lost-files": "restore"})
    assert folder.plain_ids() == folder.spark_ids(spark) == once(folder.ids)


@pytest.mark.test_rest
def test_statistics_come_back_where_all_files_were_deleted(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable
) -> None:
    query = f"SELECT * FROM {folder.source} WHERE a = 50"
    optimize(table, folder, 3)
    [first] = explain_skipping(spark, query).df.collect()
    assert first.files_kept < first.files_total
    # The index has forgotten the files of two operations ago.
    for files in (4, 5):
        optimize(table, folder, files)
    for file in folder.files():
        file.unlink()
    table.restore(1, options={"lost-files": "restore"})
    [again] = explain_skipping(spark, query).df.collect()
    assert (again.files_kept, again.files_total) == (first.files_kept, first.files_total)
    assert folder.plain_ids() == folder.spark_ids(spark) == once(folder.ids)


@pytest.mark.test_rest
def test_a_file_that_was_retired_twice_is_no_way_back(folder: SmallTable, table: ZOrderTable, tmp_path: Path) -> None:
    optimize(table, folder, 2)
    lost = folder.files()[0]
    shutil.copy2(lost, tmp_path / "lost")
    lost.unlink()
    table.restore(0, options={"lost-files": "restore"})
    shutil.copy2(tmp_path / "lost", lost)
    optimize(table, folder, 3)
    for version in (0, 1):
        with pytest.raises(AnalysisException, match=rf"ZORDER_CANNOT_RESTORE\.CHANGED_FILES.*{lost.name}"):
            table.restore(version, options={"lost-files": "restore"})


def test_a_partition_overwritten_since_is_refused(tmp_path: Path, spark: SparkSession) -> None:
    folder = SmallTable.write(tmp_path / "t", True)
    table = ZOrderTable.for_path(spark, str(folder.root))
    optimize(table, folder, 2)
    shutil.rmtree(folder.folders[1])
    write_file(folder.folders[1] / "new.parquet", range(1000, 1000 + ROWS))
    with pytest.raises(AnalysisException, match=r"ZORDER_CANNOT_RESTORE\.CHANGED_FILES.*p=2/"):
        table.restore(0)


@pytest.mark.test_rest
def test_statistics_come_back_with_the_files(spark: SparkSession, folder: SmallTable, table: ZOrderTable) -> None:
    query = f"SELECT * FROM {folder.source} WHERE a = 50"

    def kept() -> tuple[int, int]:
        [scan] = explain_skipping(spark, query).df.collect()
        return scan.files_kept, scan.files_total

    optimize(table, folder, 3)
    first = kept()
    assert first[0] < first[1]
    for files in (4, 5):
        optimize(table, folder, files)
    # The index has forgotten the files of two operations ago.
    table.restore(1)
    assert kept() == first


@pytest.mark.test_rest
def test_the_history_is_shown_to_a_limit_newest_first(folder: SmallTable, table: ZOrderTable) -> None:
    for files in (2, 4, 1):
        optimize(table, folder, files)
    for limit, versions in ((None, [3, 2, 1]), (2, [3, 2]), (9, [3, 2, 1]), (0, [])):
        assert [row.version for row in table.describe_history(limit).collect()] == versions


@pytest.mark.test_rest
def test_the_history_tells_times_and_trash(folder: SmallTable, table: ZOrderTable) -> None:
    before = sum(f.stat().st_size for f in folder.files())
    optimize(table, folder, 2)
    [row] = table.describe_history().collect()
    assert 0 <= int(row.operationMetrics["publishMillis"]) < 60_000
    assert int(row.operationMetrics["numTrashFiles"]) == len(trash(folder)) == 3 * len(folder.folders)
    assert int(row.operationMetrics["trashBytes"]) == before
    table.restore(0)
    restored, optimized = table.describe_history().collect()
    assert (optimized.state, optimized.operationMetrics["trashBytes"]) == ("restored", "0")
    assert (restored.state, restored.operation, restored.operationParameters) == (
        "committed",
        "RESTORE",
        {"version": "0"},
    )
    assert int(restored.operationMetrics["numTrashFiles"]) == len(trash(folder)) == 2 * len(folder.folders)
    assert int(restored.operationMetrics["numRestoredFiles"]) == 3 * len(folder.folders)


@pytest.mark.test_rest
def test_vacuum_deletes_what_is_old_and_says_before_what(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable
) -> None:
    optimize(table, folder, 2)
    optimize(table, folder, 4)
    # Eight days ago.
    [record] = (folder.root / "_zorder").glob("_v0000000001-*.json")
    said = json.loads(record.read_text())
    record.write_bytes(sealed(said | {"timestamp": said["timestamp"] - 8 * 24 * 3_600_000}))
    first = [f for f in trash(folder) if f.parent.name.startswith("_v0000000001-")]
    assert table.vacuum(retain_hours=9 * 24, dry_run=True).files == ()
    listed = table.vacuum(dry_run=True).files
    assert sorted(Path(path.removeprefix("file:")) for path in listed) == first
    assert all(f.exists() for f in first)
    [result] = table.vacuum().df.collect()
    assert Path(result.path.removeprefix("file:")) == folder.root
    assert trash(folder)
    assert not set(trash(folder)) & set(first)
    assert states(table) == ["vacuumed", "committed"]
    with pytest.raises(AnalysisException, match=r"ZORDER_CANNOT_RESTORE\.FILES_GONE"):
        table.restore(0)
    table.vacuum(retain_hours=0)
    assert trash(folder) == []
    assert states(table) == ["vacuumed", "vacuumed"]
    assert folder.leftovers(2) == []
    assert folder.plain_ids() == folder.spark_ids(spark) == once(folder.ids)


@pytest.mark.test_rest
def test_vacuum_retains_parts_of_an_hour_as_sql_does(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable
) -> None:
    optimize(table, folder, 2)
    [record] = (folder.root / "_zorder").glob("_v0000000001-*.json")
    forty_minutes_ago = json.loads(record.read_text())
    forty_minutes_ago["timestamp"] -= 40 * 60_000
    record.write_bytes(sealed(forty_minutes_ago))
    for hours, files in ((0.75, []), (0.5, trash(folder))):
        for result in (
            table.vacuum(retain_hours=hours, dry_run=True).df,
            spark.sql(f"VACUUM {folder.source} RETAIN {hours} HOURS DRY RUN"),
        ):
            assert sorted(Path(row.path.removeprefix("file:")) for row in result.collect()) == files
    table.vacuum(retain_hours=0.75)
    assert trash(folder)
    table.vacuum(retain_hours=0.5)
    assert not trash(folder)


@pytest.mark.test_rest
def test_vacuum_keeps_as_long_as_optimize_was_told(folder: SmallTable, table: ZOrderTable) -> None:
    optimize(table, folder, 2, retain_hours=0)
    optimize(table, folder, 3)
    table.vacuum()
    assert states(table) == ["vacuumed", "committed"]
    table.restore(1)
    assert len(folder.files()) == 2 * len(folder.folders)


def test_without_an_operation_there_is_nothing_to_do(folder: SmallTable, table: ZOrderTable) -> None:
    before = contents(folder)
    result = table.restore(0)
    assert (result.files_removed, result.files_restored) == (0, 0)
    assert table.vacuum(0, dry_run=True).files == ()
    assert table.vacuum(0).df.count() == 1
    with pytest.raises(AnalysisException, match=r"ZORDER_VERSION_NOT_FOUND\.NUMBER"):
        table.restore(1)
    assert contents(folder) == before
    assert not (folder.root / "_zorder").exists()
