"""RESTORE, VACUUM and the history on real files: what they bring back, refuse, delete, keep and warn of."""

import hashlib
import json
import os
import re
import shutil
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import ERRORS
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from small_tables import ROWS, SmallTable, once, sealed, write_file

from spark_zorder import ZOrderTable, explain_skipping

pytestmark = pytest.mark.older_sparks


@pytest.fixture(params=[False, True], ids=["flat", "partitioned"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> SmallTable:
    """Three files, or two partitions of three files each."""
    return SmallTable.write(tmp_path / "t", request.param)


@pytest.fixture
def table(spark: SparkSession, folder: SmallTable) -> ZOrderTable:
    return ZOrderTable.for_path(spark, str(folder.root), "parquet")


FLAT = pytest.mark.parametrize("folder", [False], ids=["flat"], indirect=True)


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
    with pytest.raises(ERRORS, match=rf"ZORDER_CANNOT_RESTORE.DAMAGED_FILES.*{re.escape(damaged.name)}"):
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
    with pytest.raises(ERRORS, match=rf"ZORDER_CANNOT_RESTORE.DAMAGED_FILES.*{re.escape(damaged.name)}"):
        table.restore(0)
    assert sorted(root.glob("*.parquet")) == before
    flip(damaged, 100)
    table.restore(0)
    assert spark.read.parquet(str(root)).count() == 1000


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
    said = (restored.state, restored.operation, restored.operationParameters)
    assert said == ("committed", "RESTORE", {"version": "0"})
    assert int(restored.operationMetrics["numTrashFiles"]) == len(trash(folder)) == 2 * len(folder.folders)
    assert int(restored.operationMetrics["numRestoredFiles"]) == 3 * len(folder.folders)


@pytest.mark.test_rest
def test_vacuum_retains_parts_of_an_hour_as_sql(spark: SparkSession, folder: SmallTable, table: ZOrderTable) -> None:
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


def noticed(spark: SparkSession) -> int:
    """The number of files that came back under a retired name and were noticed so far in this process."""
    assert spark._jvm is not None
    return int(spark._jvm.org.sparkzorder.commit.log.Reappeared.noticed())


@FLAT
def test_stale_rewrites_are_noticed(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable, tmp_path: Path
) -> None:
    old = folder.files()[0]
    copy = shutil.copy(old, tmp_path / "old.parquet")
    spark.sql(folder.optimize)
    before = noticed(spark)
    assert folder.spark_ids(spark) == once(folder.ids)
    # Another program read the file before. Now it writes its result.
    shutil.move(copy, old)
    assert sum(folder.spark_ids(spark).values()) == 4 * ROWS
    for _ in range(100):
        if noticed(spark) > before:
            break
        time.sleep(0.1)
    assert noticed(spark) == before + 1
    # A known listing is not checked again. Neither is a file that others add.
    write_file(folder.root / "more.parquet", range(1000, 1000 + ROWS))
    again = table.optimize(["a"], num_files=2).metrics.strategy.reason
    assert re.search(rf"`{old.name}` \(retired by version 1\).*their rows are in the table twice, or", again)
    assert table.describe_history().collect()[0].operationMetrics["numReappearedFiles"] == "1"
    # Now it is one of the inputs.
    after = noticed(spark)
    assert "warning" not in table.optimize(["a"], full=True).metrics.strategy.reason
    assert noticed(spark) == after


@pytest.mark.test_all
def test_the_layout_of_a_file_is_known_after_many_operations(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "t"
    rows = spark.range(2000).selectExpr("id", "id % 7 AS a", "id % 2 AS p")
    rows.write.partitionBy("p").parquet(str(root))
    table = ZOrderTable.for_path(spark, str(root), "parquet")
    table.optimize(["a"], num_files=4)
    for n in range(18):
        table.optimize(["a"], where="p = 1", full=True, num_files=2 + n % 2)
    table.vacuum(0)

    def reason() -> str:
        return str(table.optimize(["a"]).metrics.strategy.reason)

    # The files of the other partition are of the first operation, which is not among the newest 16.
    assert "nothing to do" in reason()
    spark.sql(f"REFRESH SKIPPING INDEX ON parquet.`{root}`")
    assert "nothing to do" in reason()
    spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON parquet.`{root}`")
    assert "nothing to do" in reason()
    # Without statistics nothing is known of them, so they are rewritten.
    spark.sql(f"DROP SKIPPING INDEX ON parquet.`{root}`")
    assert table.optimize(["a"]).metrics.partitionsOptimized == 1
    assert "nothing to do" in reason()


def test_the_retention_is_a_time_and_a_number(spark: SparkSession, database: Path) -> None:
    spark.range(100).selectExpr("id", "id % 7 AS a").write.saveAsTable("t")
    spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '2')")
    for name, right, wrong in (
        ("retention", ("0", "90", "12h", "30"), ("soon", "-1", "3 parsecs")),
        ("max-operations", ("1", "1000"), ("0", "many")),
    ):
        for value in right:
            spark.conf.set(f"spark.zorder.history.{name}", value)
            spark.sql("VACUUM t")
        for value in wrong:
            with pytest.raises(Exception, match=rf"spark\.zorder\.history\.{name}"):
                spark.conf.set(f"spark.zorder.history.{name}", value)
        spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ('zorder.history.{name}' = '{wrong[0]}')")
        with pytest.raises(AnalysisException, match=rf"zorder\.history\.{name}.*{wrong[0]}"):
            spark.sql("VACUUM t RETAIN 0 HOURS")
        spark.sql(f"ALTER TABLE t UNSET TBLPROPERTIES ('zorder.history.{name}')")


@FLAT
def test_a_statement_by_path_lists_tables_over_it_anew(spark: SparkSession, folder: SmallTable, database: Path) -> None:
    spark.sql(f"CREATE TABLE t USING parquet LOCATION '{folder.root}'")

    def listed() -> set[str]:
        return {Path(f.removeprefix("file:")).name for f in spark.table("t").inputFiles()}

    assert listed() == {f.name for f in folder.files()}
    spark.sql(folder.optimize)
    assert listed() == {f.name for f in folder.files()}
    ZOrderTable.for_path(spark, str(folder.root), "parquet").restore(0)
    assert listed() == {f.name for f in folder.files()}
