"""A process killed anywhere in RESTORE or VACUUM loses and doubles no row, and no file that a RESTORE needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from rival import Rival
from small_tables import ROWS, SmallTable, once, write_file

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

ROLLED_BACK = ("after-stage-folders", "after-staging-all", "before-commit-point")
FORWARD = ("after-commit-point", "reveal-1", "decided", "retire-1", "after-record-done")
UNDO = ("undo:decided", "undo:put-back-1", "undo:before-record-done", "undo:before-unlock")
"""After another program deleted a file that the RESTORE removes. The folder of that file stays."""

AGAIN = (("after-staging-all", "after-lock"), ("reveal-1", "retire-1"), ("retire-1", "recovered"))
"""Where the RESTORE dies, and where the query that recovers it dies."""

VACUUM = ("vacuum-record", "vacuum-1")


@dataclass(frozen=True)
class Case:
    """A table of two OPTIMIZEs that a process died on, and the rows that it must have at the end."""

    table: SmallTable
    ids: frozenset[int]


def started(rival: Rival, root: Path, statement: str, died: str) -> Case:
    """A table with a statement of the rival that has stopped at a step."""
    table = SmallTable.write(root, True)
    ids = set(table.ids)
    for files in (2, 3):
        sql = table.optimize.replace(" ZORDER", " FULL ZORDER", 1)
        sql = sql.replace(f"'{2 * len(table.folders)}'", f"'{files * len(table.folders)}'")
        assert rival.run(sql).error() is None
    sql = (
        f"RESTORE {table.source} TO VERSION AS OF 0"
        if statement == "RESTORE"
        else f"VACUUM {table.source} RETAIN 0 HOURS"
    )
    if died not in UNDO:
        rival.pause(sql, died)
        return Case(table, frozenset(ids))
    # Where files are missing before, nothing is revealed that could be put back.
    running = rival.pause(sql, "reveal-in-p=2" if died == "undo:put-back-1" else "after-commit-point")
    gone = root / table.record()["inputs"][-1]["path"]
    ids -= ids_of(gone)
    gone.unlink()
    rival.next_pause(running, died.removeprefix("undo:"))
    return Case(table, frozenset(ids))


def ids_of(file: Path) -> set[int]:
    return set(pq.ParquetFile(file).read(columns=["id"]).column("id").to_pylist())


@pytest.fixture(scope="module")
def crashes(tmp_path_factory: pytest.TempPathFactory) -> dict[tuple[str, ...], Case]:
    base = tmp_path_factory.mktemp("crash")
    rival = Rival(base / "first")
    try:
        cases: dict[tuple[str, ...], Case] = {
            ("RESTORE", died): started(rival, base / died, "RESTORE", died) for died in ROLLED_BACK + FORWARD + UNDO
        }
        for died in VACUUM:
            cases["VACUUM", died] = started(rival, base / died, "VACUUM", died)
        for died, recovery in AGAIN:
            cases["RESTORE", died, recovery] = started(rival, base / f"{died}-{recovery}", "RESTORE", died)
    finally:
        rival.kill()
    second = Rival(base / "second")
    try:
        for died, recovery in AGAIN:
            second.pause(f"SELECT id FROM {cases['RESTORE', died, recovery].table.source}", recovery)
    finally:
        second.kill()
    return cases


@pytest.mark.parametrize("died", [(d,) for d in ROLLED_BACK + FORWARD + UNDO] + list(AGAIN), ids="-".join)
def test_a_query_ends_a_restore_one_way_or_the_other(
    spark: SparkSession, crashes: dict[tuple[str, ...], Case], died: tuple[str, ...]
) -> None:
    case = crashes[("RESTORE", *died)]
    table = case.table
    assert table.spark_ids(spark) == table.plain_ids() == once(case.ids)
    done = died[0] not in ROLLED_BACK
    assert table.leftovers(3 if done else 2) == []
    restored = [not list(folder.glob("*-zorder-*.parquet")) for folder in table.folders]
    if died[0] in UNDO:
        # The rows of the deleted file do not come back.
        assert restored == [True, False]
        return
    assert restored == [done, done]
    if not done:
        spark.sql(f"RESTORE {table.source} TO VERSION AS OF 0")
    assert {f.name for f in table.files()} == {f"part-{i}.parquet" for i in range(3)}
    spark.sql(f"RESTORE {table.source} TO VERSION AS OF 2")
    assert len(table.files()) == 3 * len(table.folders)
    assert table.spark_ids(spark) == table.plain_ids() == once(case.ids)


@pytest.mark.parametrize("died", VACUUM)
def test_a_vacuum_that_died_left_the_rows_alone_and_the_next_one_ends_it(
    spark: SparkSession, crashes: dict[tuple[str, ...], Case], died: str
) -> None:
    case = crashes["VACUUM", died]
    table = case.table
    assert table.plain_ids() == once(case.ids)
    assert table.spark_ids(spark) == once(case.ids)
    assert list(table.root.rglob("*.retired"))
    new = write_file(table.folders[0] / "new.parquet", range(1000, 1000 + ROWS))
    spark.sql(f"VACUUM {table.source} RETAIN 0 HOURS")
    assert not list(table.root.rglob("*.retired"))
    assert table.leftovers(2) == []
    history = spark.sql(f"DESCRIBE HISTORY {table.source}").collect()
    assert [row.state for row in history] == ["vacuumed", "vacuumed"]
    assert table.spark_ids(spark) == table.plain_ids() == once(case.ids | new)
