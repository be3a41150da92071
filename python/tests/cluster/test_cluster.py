"""Executors and workers that die, or that a second attempt overtakes, on a standalone cluster of two workers."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cluster import Cluster
from conftest import SUPPORT
from processes import start_child, wait_until
from small_tables import SmallTable, once
from submit import by_packages, of_page, program_of_page, submit, wait

pytestmark = pytest.mark.test_all

FILES = 6
ROWS = 60_000
"""The rows of each file. With this number, a task writes for a while."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    started = Cluster(tmp_path_factory.mktemp("cluster") / "work")
    yield started
    started.stop()


def large_table(root: Path, sizes: list[int]) -> SmallTable:
    """A flat folder with files of this number of rows."""
    root.mkdir()
    start = 0
    for i, rows in enumerate(sizes):
        ids = range(start, start + rows)
        columns = {
            "id": pa.array(ids, pa.int64()),
            "a": pa.array((j * 7919 % 10007 for j in ids), pa.int32()),
            "text": pa.array(f"{j * 2654435761 % 2**32:x}" * 8 for j in ids),
        }
        pq.write_table(pa.table(columns), root / f"part-{i}.parquet", compression="none")
        start += rows
    return SmallTable(root, False)


class Driver:
    """An application on the cluster that runs one statement."""

    def __init__(self, cluster: Cluster, work: Path, sql: str, **conf: str) -> None:
        work.mkdir()
        self._work = work
        self._log = work / "log"
        asked = json.dumps({"master": cluster.url, "work": str(work), "sql": sql, "conf": conf})
        with self._log.open("w") as log:
            self._process = start_child(SUPPORT / "cluster_driver.py", asked, stdout=subprocess.PIPE, stderr=log)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def answer(self) -> dict[str, Any]:
        """The error's condition and message. None without an error."""
        out, _ = self._process.communicate(timeout=300)
        assert self._process.returncode == 0, self._log.read_text()[-3000:]
        found: dict[str, Any] = json.loads(out.splitlines()[-1])
        return found

    def events(self, kind: str) -> list[dict[str, Any]]:
        """The messages of a kind that Spark logged. Call it after the end."""
        lines = [line for log in self._work.glob("app-*") for line in log.read_text().splitlines()]
        return [e for e in map(json.loads, lines) if e["Event"] == f"SparkListener{kind}"]

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@contextmanager
def driver(cluster: Cluster, work: Path, sql: str, **conf: str) -> Iterator[Driver]:
    running = Driver(cluster, work, sql, **conf)
    try:
        yield running
    finally:
        running.kill()
        wait_until(lambda: not cluster.executors(), "the end of its executors")


def staged(table: SmallTable) -> list[Path]:
    """The files that tasks of the write are writing or have written."""
    return list(table.root.glob("_zorder/staging/*/*.staged"))


def optimize(table: SmallTable, files: int) -> str:
    return f"OPTIMIZE {table.source} ZORDER BY (a) OPTIONS ('num-files' = '{files}')"


def assert_whole(table: SmallTable, rows: int, versions: int) -> None:
    """Check that each row is there once, and that nothing is left over, without another statement."""
    assert table.plain_ids() == once(range(rows))
    assert table.leftovers(versions) == []


def test_an_executor_killed_while_it_writes_costs_no_row(cluster: Cluster, tmp_path: Path) -> None:
    table = large_table(tmp_path / "t", [ROWS] * FILES)
    with driver(cluster, tmp_path / "driver", optimize(table, 8)) as running:
        wait_until(lambda: len(staged(table)) >= 3 or running.has_ended, "the write")
        victims = cluster.executors()
        assert len(victims) == 2
        os.kill(victims[0], signal.SIGKILL)
        assert not list(table.root.glob("_zorder/*.publishing"))
        answer = running.answer()
    assert answer["error"] is None, answer
    assert len(running.events("ExecutorRemoved")) == 1
    assert len(table.files()) == 8
    assert_whole(table, ROWS * FILES, versions=1)


def test_all_executors_killed_again_and_again_leave_the_table_as_it_was(cluster: Cluster, tmp_path: Path) -> None:
    table = large_table(tmp_path / "t", [ROWS] * FILES)
    before = table.files()
    conf = {"spark.task.maxFailures": "1", "spark.stage.maxConsecutiveAttempts": "1"}
    with driver(cluster, tmp_path / "driver", optimize(table, 8), **conf) as running:
        wait_until(lambda: len(staged(table)) >= 3 or running.has_ended, "the write")
        for victim in cluster.executors():
            os.kill(victim, signal.SIGKILL)
        answer = running.answer()
    assert answer["error"] is not None
    assert table.files() == before
    assert_whole(table, ROWS * FILES, versions=0)


def test_a_task_that_another_attempt_overtakes_leaves_nothing(cluster: Cluster, tmp_path: Path) -> None:
    # One partition is large. Its task still runs when all others are done, so Spark starts it again elsewhere.
    root = tmp_path / "t"
    root.mkdir()
    large_table(root / "p=1", [20 * ROWS])
    for p in range(2, 10):
        (root / f"p={p}").mkdir()
        first = 20 * ROWS + p * 10
        columns = {
            "id": pa.array(range(first, first + 10), pa.int64()),
            "a": pa.array([0] * 10, pa.int32()),
            "text": pa.array(["x"] * 10),
        }
        pq.write_table(pa.table(columns), root / f"p={p}" / "part-0.parquet")
    table = SmallTable(root, False)
    sql = f"OPTIMIZE {table.source} FULL ZORDER BY (a) OPTIONS ('num-files' = '9')"
    conf = {
        "spark.speculation": "true",
        "spark.speculation.interval": "50ms",
        "spark.speculation.multiplier": "1.01",
        "spark.speculation.quantile": "0.1",
        "spark.speculation.minTaskRuntime": "50ms",
    }
    with driver(cluster, tmp_path / "driver", sql, **conf) as running:
        answer = running.answer()
        assert answer["error"] is None, answer
    assert any(e["Task Info"]["Speculative"] for e in running.events("TaskStart"))
    expected = once([*range(20 * ROWS), *(20 * ROWS + p * 10 + i for p in range(2, 10) for i in range(10))])
    assert table.plain_ids() == expected
    assert [p for p in table.root.rglob("*") if "staging" in p.parts or p.name.startswith("_lock-")] == []
    assert len(list(root.glob("p=*/*.parquet"))) == 9


@pytest.fixture
def doomed(tmp_path: Path) -> Iterator[Cluster]:
    """A cluster for a test that kills one of its workers."""
    started = Cluster(tmp_path / "cluster")
    yield started
    started.stop()


@pytest.mark.parametrize("way", ["jars", "packages"])
def test_a_worker_killed_during_spark_submit_costs_no_row(doomed: Cluster, tmp_path: Path, way: str) -> None:
    table = large_table(tmp_path / "t", [ROWS] * FILES)
    folder = tmp_path / "driver"
    folder.mkdir()
    arguments = of_page("A standalone cluster", {"spark://host:7077": doomed.url})
    if way == "packages":
        place = arguments.index("--jars")
        arguments[place : place + 2] = by_packages(folder)
    arguments += ["--conf", "spark.driver.host=127.0.0.1"]
    arguments += ["--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"]
    running = submit(arguments, program_of_page(folder), str(table.root), folder=folder)
    try:
        wait_until(lambda: len(staged(table)) >= 3 or running.poll() is not None, "the write", 300)
        assert len(doomed.executors()) == 2
        doomed.kill_worker(1)
        assert not list(table.root.glob("_zorder/*.publishing"))
        wait(running, folder)
    finally:
        running.kill()
        running.wait()
    log = (folder / "log").read_text(errors="replace")
    assert "Lost executor" in log
    # Each value of `a` is in one of the new files.
    rows = sum(i * 7919 % 10007 == 17 for i in range(ROWS * FILES))
    assert f"files: 1 of 8 rows: {rows}\n" in log
    assert_whole(table, ROWS * FILES, versions=1)
