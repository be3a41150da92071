"""Other writers, readers and a second OPTIMIZE run while an OPTIMIZE has stopped between two steps."""

import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from comparison import ERRORS, condition_of
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession
from rival import Rival
from small_tables import ROWS, SmallTable, once, write_file

pytestmark = pytest.mark.test_all

BEFORE = ("after-staging", "before-commit-point")
MIDDLE = ("after-commit-point", "reveal-1")
"""Before the decision on the first folder's files."""
LATE = ("decided", "retire-1")
CONFLICT = "ZORDER_COMMIT_CONFLICT"
NEW = range(1000, 1000 + ROWS + 1)
"""The ids of another writer. Their number differs from that of our files."""


@pytest.fixture(params=[False, True], ids=["flat", "partitioned"])
def table(request: pytest.FixtureRequest, tmp_path: Path) -> SmallTable:
    return SmallTable.write(tmp_path / "t", request.param)


def ids_of(file: Path) -> set[int]:
    return set(pq.ParquetFile(file).read(columns=["id"]).column("id").to_pylist())


def waiting_input(table: SmallTable) -> Path | None:
    """An input that is still in its place. It is the last one to be moved away."""
    found = [table.root / i["path"] for i in table.record()["inputs"]]
    return next((f for f in reversed(found) if f.exists()), None)


def append(table: SmallTable, spark: SparkSession) -> set[int]:
    return table.ids | write_file(table.folders[-1] / "new.parquet", NEW)


def append_by_spark(table: SmallTable, spark: SparkSession) -> set[int]:
    rows(spark, table).write.mode("append").partitionBy(*keys(table)).parquet(str(table.root))
    return table.ids | set(NEW)


def overwrite(table: SmallTable, spark: SparkSession) -> set[int]:
    shutil.rmtree(table.root)
    return write_file(table.folders[0] / "new.parquet", NEW)


def overwrite_by_spark(table: SmallTable, spark: SparkSession) -> set[int]:
    rows(spark, table).write.mode("overwrite").partitionBy(*keys(table)).parquet(str(table.root))
    return set(NEW)


def delete_input(table: SmallTable, spark: SparkSession) -> set[int]:
    file = last_file(table)
    lost = ids_of(file)
    file.unlink()
    return table.ids - lost


def replace_input(table: SmallTable, spark: SparkSession) -> set[int]:
    file = last_file(table)
    lost = ids_of(file)
    return table.ids - lost | write_file(file, NEW)


def last_file(table: SmallTable) -> Path:
    """Change the last input. Before there is a record, all inputs are in their places."""
    if list(table.root.glob("_zorder/_v*")):
        found = waiting_input(table)
        assert found is not None
        return found
    return table.folders[-1] / "part-2.parquet"


def keys(table: SmallTable) -> list[str]:
    return ["p"] if table.partitioned else []


def rows(spark: SparkSession, table: SmallTable) -> DataFrame:
    frame = spark.range(NEW.start, NEW.stop).selectExpr("id", "CAST(id % 101 AS INT) AS a", "2 AS p").coalesce(1)
    return frame if table.partitioned else frame.drop("p")


Action = Callable[[SmallTable, "SparkSession"], set[int]]
APPENDS: list[Action] = [append, append_by_spark]
CHANGES: list[Action] = [overwrite, overwrite_by_spark, delete_input, replace_input]


def assert_settled(spark: SparkSession, table: SmallTable, ids: set[int], versions: int) -> None:
    """Check that every reader sees each row once, and that nothing is left over, without another statement."""
    assert table.plain_ids() == once(ids)
    assert table.leftovers(versions) == []
    assert table.spark_ids(spark) == once(ids)


@pytest.mark.parametrize("action", APPENDS)
@pytest.mark.parametrize("place", BEFORE + MIDDLE + LATE)
def test_appended_rows_stay(spark: SparkSession, rival: Rival, table: SmallTable, place: str, action: Action) -> None:
    running = rival.pause(table.optimize, place)
    ids = action(table, spark)
    assert running.error() is None
    assert_settled(spark, table, ids, versions=1)


@pytest.mark.parametrize("action", CHANGES)
@pytest.mark.parametrize("place", BEFORE + MIDDLE)
def test_a_change_wins(spark: SparkSession, rival: Rival, table: SmallTable, place: str, action: Action) -> None:
    running = rival.pause(table.optimize, place)
    ids = action(table, spark)
    # If the lock was deleted with the folder before the job began to publish, nobody knows who deleted it.
    is_lost = place == "after-staging" and action in (overwrite, overwrite_by_spark)
    assert running.error() == ("ZORDER_LOCK_LOST" if is_lost else CONFLICT)
    # Each partition is decided alone.
    exchanged = 1 if table.partitioned and action in (delete_input, replace_input) else 0
    assert_settled(spark, table, ids, versions=exchanged)


@pytest.mark.parametrize("action", [overwrite, overwrite_by_spark])
@pytest.mark.parametrize("place", ["decided", "retire-1", "before-record-done"])
def test_an_overwrite_wins(spark: SparkSession, rival: Rival, table: SmallTable, place: str, action: Action) -> None:
    running = rival.pause(table.optimize, place)
    ids = action(table, spark)
    assert running.error() == CONFLICT
    assert_settled(spark, table, ids, versions=0)


@pytest.mark.parametrize("place", ["after-lock", *BEFORE, *MIDDLE, *LATE, "before-unlock"])
def test_a_second_optimize_is_refused(spark: SparkSession, rival: Rival, parted: SmallTable, place: str) -> None:
    running = rival.pause(parted.optimize, place)
    with pytest.raises(ERRORS) as refused:
        spark.sql(parted.optimize.replace(" ZORDER", " FULL ZORDER", 1))
    assert condition_of(refused.value) == "ZORDER_CONCURRENT_OPERATION"
    assert running.error() is None
    assert_settled(spark, parted, parted.ids, versions=1)


@pytest.mark.parametrize("place", ["after-staging", "before-commit-point", *MIDDLE, *LATE, "after-clean"])
def test_a_query_sees_each_row_once(spark: SparkSession, rival: Rival, table: SmallTable, place: str) -> None:
    running = rival.pause(table.optimize, place)
    assert table.spark_ids(spark) == once(table.ids)
    assert spark.sql(f"SELECT id FROM {table.source} WHERE a >= 50").count() == sum(
        i * 7919 % 101 >= 50 for i in table.ids
    )
    assert running.error() is None
    assert table.spark_ids(spark) == once(table.ids)


@pytest.mark.parametrize("place", [*MIDDLE, *LATE, "after-record-done"])
@pytest.mark.parametrize("times", [0, 1], ids=["first", "second"])
def test_a_query_planned_before_an_exchange_reads_one_side_when_it_lists(
    spark: SparkSession, rival: Rival, parted: SmallTable, place: str, times: int
) -> None:
    columns = "id BIGINT, a INT, p INT"
    spark.sql(f"CREATE TABLE lazy ({columns}) USING parquet PARTITIONED BY (p) LOCATION '{parted.root}'")
    try:
        spark.sql("MSCK REPAIR TABLE lazy")
        for _ in range(times):
            spark.sql("OPTIMIZE lazy ZORDER BY (a) OPTIONS ('num-files' = '6')")
        frame = spark.table("lazy").select("id")
        frame._jdf.queryExecution().executedPlan()
        running = rival.pause(parted.optimize, place)
        assert once(row[0] for row in frame.collect()) == once(parted.ids)
        assert running.error() is None
    finally:
        spark.sql("DROP TABLE lazy")


def test_an_undo_under_a_waiting_query_is_seen(spark: SparkSession, rival: Rival, parted: SmallTable) -> None:
    running = rival.pause(parted.optimize, "reveal-1")
    asked = rival.run(f"SELECT id FROM {parted.source}")
    # The query has read the schema from a file, and waits.
    time.sleep(0.5)
    ids = delete_input(parted, spark)
    assert running.error() == CONFLICT
    # After more than two seconds, the query may have read around the owner, before the delete.
    assert once(row[0] for row in asked.rows()) in (once(ids), once(parted.ids))


@pytest.mark.parametrize("change", ["delete", "delete all", "overwrite", "rewrite"])
@pytest.mark.parametrize("place", ["after-commit-point", "reveal-1", "decided"])
def test_a_query_beside_an_owner_that_stands_still_reads_the_rows_of_before_or_after_a_change(
    spark: SparkSession, rival: Rival, table: SmallTable, place: str, change: str
) -> None:
    running = rival.pause(table.optimize, place)
    visible = sorted(f for f in table.folders[0].iterdir() if f.suffix == ".parquet")
    gone = visible[:1] if change in ("delete", "rewrite") else visible
    deleted = set().union(*map(ids_of, gone))
    new: set[int] = set()
    for file in gone:
        file.unlink()
    if change in ("overwrite", "rewrite"):
        new = write_file(table.folders[0] / "new.parquet" if change == "overwrite" else visible[0], NEW)

    def ids() -> Counter[int]:
        # A folder may have no file left that shows its columns.
        return Counter(row[0] for row in spark.read.schema("id BIGINT").parquet(str(table.root)).collect())

    assert ids() in (once(table.ids - deleted | new), once(table.ids | new))
    running.error()
    assert ids() == (table.plain_ids() if table.files() else Counter())
    assert ids() == once(table.ids - deleted | new)


@pytest.mark.parametrize("place", ["after-commit-point", "reveal-1", "undo:decided", "undo:drop-1"])
def test_an_undone_operation_is_listed_anew(spark: SparkSession, rival: Rival, parted: SmallTable, place: str) -> None:
    undo = place.startswith("undo")
    running = rival.pause(parted.optimize, "after-commit-point" if undo else place)
    if undo:
        ids = delete_input(parted, spark)
        running = rival.next_pause(running, place.removeprefix("undo:"))
    frames = [spark.read.parquet(str(parted.root)).select("id")]
    frames += [spark.read.parquet(str(folder)).select("id") for folder in parted.folders]
    if not undo:
        ids = delete_input(parted, spark)
    assert running.error() == CONFLICT
    first, second = ({i for i in ids if (i < 3 * ROWS) == head} for head in (True, False))
    # More than one operation may have run since.
    if place in ("after-commit-point", "undo:drop-1"):
        one = f"OPTIMIZE {parted.source} WHERE p = 2 ZORDER BY (a) OPTIONS ('num-files' = '3')"
        assert rival.run(one).error() is None
    if place == "reveal-1":
        # In the second folder no file was exchanged. A frame of this folder fails as any frame does after a delete.
        with pytest.raises(Py4JJavaError, match=r"FAILED_READ_FILE\.FILE_NOT_EXIST"):
            frames.pop().collect()
    for frame, expected in zip(frames, (ids, first, second), strict=False):
        assert once(row[0] for row in frame.collect()) == once(expected)


def test_frames_made_before_give_the_rows_of_after(spark: SparkSession, rival: Rival, parted: SmallTable) -> None:
    spark.sql(f"CREATE SKIPPING INDEX ON {parted.source}")
    frames = [session.sql(f"SELECT id FROM {parted.source}") for session in (spark, spark.newSession())]
    frames.append(spark.read.parquet(str(parted.root)).select("id"))
    late = spark.read.parquet(str(parted.root)).select("id")
    assert late.count() == len(parted.ids)
    assert rival.run(parted.optimize).error() is None
    for frame in frames:
        assert sorted(r[0] for r in frame.collect()) == sorted(parted.ids)
    spark.sql(parted.optimize.replace(" ZORDER", " FULL ZORDER", 1))
    for frame in [*frames, late]:
        assert sorted(r[0] for r in frame.select("id").collect()) == sorted(parted.ids)


def test_a_frame_of_before_several_operations_is_anew(spark: SparkSession, rival: Rival, parted: SmallTable) -> None:
    frame = spark.read.parquet(str(parted.root)).select("id")
    for p in (1, 2):
        one = f"OPTIMIZE {parted.source} WHERE p = {p} ZORDER BY (a) OPTIONS ('num-files' = '2')"
        assert rival.run(one).error() is None
    # The last operation was on a partition that the frame has not seen.
    new = write_file(parted.root / "p=3" / "part-0.parquet", NEW)
    new |= write_file(parted.root / "p=3" / "part-1.parquet", range(2000, 2000 + ROWS))
    third = f"OPTIMIZE {parted.source} WHERE p = 3 ZORDER BY (a) OPTIONS ('num-files' = '1')"
    assert rival.run(third).error() is None
    found = {r[0] for r in frame.collect()}
    assert parted.ids <= found <= parted.ids | new
