"""Groups of files that are rewritten at the same time, and commits of finished groups."""

from pathlib import Path
from typing import Any

import pytest
from comparison import ERRORS, condition_of, executions
from pyspark.sql import DataFrame, SparkSession
from pyspark_test import assert_pyspark_df_equal

from spark_zorder import ZOrderTable

pytestmark = [pytest.mark.older_sparks, pytest.mark.test_all]

ROWS = 12_000
DAYS = 6
AT_ONCE = "max-concurrent-file-group-rewrites"
MAX_BYTES = "max-file-group-size-bytes"
PARTIAL = "partial-progress.enabled"
MAX_COMMITS = "partial-progress.max-commits"


def rows(spark: SparkSession) -> DataFrame:
    return spark.range(ROWS).selectExpr(
        "id", "pmod(hash(id), 1000) AS a", "pmod(hash(id, 1), 997) AS b", f"CAST(id % {DAYS} AS INT) AS day"
    )


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path) -> Path:
    """Six partitions of four files each."""
    path = tmp_path / "t"
    rows(spark).repartition(4).write.partitionBy("day").parquet(str(path))
    return path


@pytest.fixture
def table(spark: SparkSession, folder: Path) -> ZOrderTable:
    return ZOrderTable.for_path(spark, str(folder), "parquet")


def files(folder: Path, day: int) -> list[Path]:
    return sorted((folder / f"day={day}").glob("*.parquet"))


def bytes_of(folder: Path, day: int) -> int:
    return sum(f.stat().st_size for f in files(folder, day))


def damage(file: Path) -> bytes:
    """Damage the pages of a file but not its footer. Returns the file's original bytes."""
    content = file.read_bytes()
    file.write_bytes(b"PAR1" + b"\xff" * 64 + content[68:])
    (file.parent / f".{file.name}.crc").unlink()
    return content


def assert_damage_is_told(table: ZOrderTable, file: Path, options: dict[str, Any], *, dry_run: bool = False) -> None:
    """Check that OPTIMIZE names the table and the file, with what Spark says as the cause."""
    with pytest.raises(ERRORS) as caught:
        # A dry run reads the columns of the layout, and the first one is damaged.
        table.optimize(["id" if dry_run else "a"], options=options, dry_run=dry_run)
    assert condition_of(caught.value) == "ZORDER_OPERATION_FAILED.UNCHANGED", caught.value
    target = table.target.replace("`parquet`", "parquet")
    assert f"OPTIMIZE on {target} failed: the file {file} cannot be read (" in str(caught.value)
    origin = getattr(caught.value, "_origin", None) or caught.value.java_exception
    assert "error while reading file" in str(origin.getCause())


def versions(spark: SparkSession, folder: Path) -> list[int]:
    """The operations in the table's history, newest first."""
    return [r.version for r in spark.sql(f"DESCRIBE HISTORY parquet.`{folder}`").collect()]


def assert_same_rows(spark: SparkSession, folder: Path) -> None:
    found = spark.read.parquet(str(folder)).select("id", "a", "b", "day")
    assert_pyspark_df_equal(found.orderBy("id"), rows(spark).orderBy("id"))


def test_groups_run_at_the_same_time_as_many_as_may(spark: SparkSession, folder: Path, table: ZOrderTable) -> None:
    def most_at_once(at_once: int) -> int:
        before = {e.executionId() for e in executions(spark)}
        table.optimize(["a"], full=True, options={MAX_BYTES: bytes_of(folder, 0) + 10, AT_ONCE: at_once})
        new = [e for e in executions(spark) if e.executionId() not in before and e.completionTime().isDefined()]
        ours = [e for e in new if ", group " in e.description()]
        groups = {e.description().split(":")[0] for e in ours}
        assert len(groups) >= DAYS, groups
        starts = [(e.submissionTime(), 1) for e in ours]
        ends = [(e.completionTime().get().getTime(), -1) for e in ours]
        running, most = 0, 0
        # Of events in the same millisecond, ends come first.
        for _, change in sorted(starts + ends):
            running += change
            most = max(most, running)
        return most

    assert most_at_once(1) == 1
    assert 2 <= most_at_once(3) <= 3


def test_partial_progress_is_a_version_for_each_commit(spark: SparkSession, folder: Path, table: ZOrderTable) -> None:
    row = table.optimize(["a"], options={PARTIAL: True, MAX_COMMITS: 3, "num-files": 2 * DAYS})
    assert row.metrics.numBatches == 3
    assert versions(spark, folder) == [3, 2, 1]
    assert row.metrics.version == 3
    assert row.metrics.numFilesRemoved == 4 * DAYS
    assert row.metrics.numFilesAdded == 2 * DAYS
    [clustering] = row.metrics.clustering
    assert clustering.meanFilesAfter < clustering.meanFilesBefore
    assert_same_rows(spark, folder)
    # The index has the files of earlier commits after the last one.
    known = spark.sql(f"DESCRIBE SKIPPING INDEX ON parquet.`{folder}`").where("status = 'indexed'")
    assert known.select("path").distinct().count() == 2 * DAYS
    again = table.optimize(["a"])
    assert again.metrics.numFilesAdded == 0
    table.restore(1)
    assert sum(len(files(folder, day)) == 2 for day in range(DAYS)) == 2
    assert_same_rows(spark, folder)


def test_what_was_committed_stays_if_a_group_fails(spark: SparkSession, folder: Path, table: ZOrderTable) -> None:
    [victim, *_] = files(folder, DAYS - 1)
    content = damage(victim)
    before = {day: files(folder, day) for day in range(DAYS)}
    options = {PARTIAL: True, MAX_COMMITS: DAYS, "num-files": 2 * DAYS}
    assert_damage_is_told(table, victim, options)
    done = len(versions(spark, folder))
    assert 1 <= done < DAYS
    assert sum(files(folder, day) != before[day] for day in range(DAYS)) == done
    assert files(folder, DAYS - 1) == before[DAYS - 1]
    victim.write_bytes(content)
    assert_same_rows(spark, folder)
    row = table.optimize(["a"], options=options)
    assert row.metrics.partitionsOptimized == DAYS - done
    assert_same_rows(spark, folder)


def test_a_group_that_fails_leaves_all_as_it_was(spark: SparkSession, folder: Path, table: ZOrderTable) -> None:
    [victim, *_] = files(folder, 2)
    content = damage(victim)
    before = sorted(p for p in folder.rglob("*.parquet"))
    assert_damage_is_told(table, victim, {MAX_BYTES: bytes_of(folder, 0) + 10, AT_ONCE: 3})
    assert_damage_is_told(table, victim, {}, dry_run=True)
    assert sorted(p for p in folder.rglob("*.parquet")) == before
    assert not list(folder.rglob("*.staged"))
    assert not list(folder.rglob("_zorder/_lock-*"))
    victim.write_bytes(content)
    assert_same_rows(spark, folder)
