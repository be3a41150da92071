"""spark-submit on a standalone cluster whose worker is killed during OPTIMIZE, as docs/running/programs.md says it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Cluster
from processes import wait_until
from submit import by_packages, of_page, program_of_page, submit, wait
from test_cluster import FILES, ROWS, assert_whole, large_table, staged

pytestmark = pytest.mark.test_all


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
    arguments = of_page("A standalone cluster", {"spark://host:7077": cluster.url})
    if way == "packages":
        place = arguments.index("--jars")
        arguments[place : place + 2] = by_packages(folder)
    arguments += ["--conf", "spark.driver.host=127.0.0.1"]
    arguments += ["--conf", "spark.scheduler.minRegisteredResourcesRatio=1.0"]
    running = submit(arguments, program_of_page(folder), str(table.root), folder=folder)
    try:
        wait_until(lambda: len(staged(table)) >= 3 or running.poll() is not None, "the write", 300)
        assert len(cluster.executors()) == 2
        cluster.kill_worker(1)
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
