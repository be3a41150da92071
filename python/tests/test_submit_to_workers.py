"""spark-submit on a standalone cluster whose worker is killed during OPTIMIZE, as docs/settings/clusters.md says it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Cluster, wait_until
from submit import by_jar, by_packages, submit, wait
from test_cluster import FILES, ROWS, assert_whole, large_table, staged

pytestmark = pytest.mark.extended

PROGRAM = Path(__file__).with_name("submitted_program.py")


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Cluster]:
    started = Cluster(tmp_path / "cluster")
    yield started
    started.stop()


@pytest.mark.parametrize("way", ["jars", "packages"])
def test_a_worker_killed_during_optimize_costs_no_row(cluster: Cluster, tmp_path: Path, way: str) -> None:
    table = large_table(tmp_path / "t", [ROWS] * FILES)
    folder = tmp_path / "driver"
    folder.mkdir()
    arguments = ["--master", cluster.url, "--conf", "spark.driver.host=127.0.0.1"]
    arguments += ["--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"]
    arguments += by_jar() if way == "jars" else by_packages(folder)
    answer = folder / "answer"
    running = submit(arguments, PROGRAM, str(table.root), str(answer), folder=folder)
    try:
        wait_until(lambda: len(staged(table)) >= 3 or running.poll() is not None, "the write")
        assert len(cluster.executors()) == 2
        cluster.kill_worker(1)
        assert not list(table.root.glob("_zorder/*.publishing"))
        wait(running, folder)
    finally:
        running.kill()
        running.wait()
    assert "Lost executor" in (folder / "log").read_text(errors="replace")
    found = json.loads(answer.read_text())
    assert found["master"] == cluster.url
    # Each value of `a` is in one of the new files.
    assert found["files"] == [1, 8]
    assert found["ids"] == [i for i in range(ROWS * FILES) if i * 7919 % 10007 == 17]
    assert found["rows"] == [ROWS * FILES, ROWS * FILES]
    assert_whole(table, ROWS * FILES, versions=1)
