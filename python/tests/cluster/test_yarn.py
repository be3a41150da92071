"""spark-submit on YARN and HDFS, in both deploy modes, as docs/running/programs.md says it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from mini_hadoop import mini_hadoop
from servers import HOME
from submit import PAGE, of_page, program_of_page, submit, wait

pytestmark = pytest.mark.test_all

BEFORE = """
import sys
from pyspark.sql import SparkSession
rows = SparkSession.builder.getOrCreate().range(4000).selectExpr("id", "id * 7919 % 1000 AS a")
rows.repartition(4).write.parquet(sys.argv[1])
"""
AFTER = """
print("all rows:", *spark.sql(f"SELECT count(*), count(DISTINCT id) FROM {table}").first())
"""


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with mini_hadoop(tmp_path_factory.mktemp("yarn"), "MiniYarn.java", "yarn-site.xml") as folder:
        yield folder


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_a_folder_of_hdfs_is_clustered_and_queried(configuration: Path, tmp_path: Path, mode: str) -> None:
    arguments = [mode if word == "cluster" else word for word in of_page("YARN", {})]
    # The containers are on this host and find Spark's own jars here.
    arguments += ["--conf", f"spark.yarn.jars=local:{HOME}/jars/*", "--conf", "spark.yarn.maxAppAttempts=1"]
    program = program_of_page(tmp_path, BEFORE, AFTER)
    more = {"HADOOP_CONF_DIR": str(configuration)}
    running = submit(arguments, program, f"/data/{mode}", folder=tmp_path, more=more)
    try:
        wait(running, tmp_path)
    finally:
        running.kill()
        running.wait()
    # In the mode `cluster` the program runs in a container, whose output the node manager keeps.
    logs = [tmp_path / "log"] if mode == "client" else configuration.parent.glob("target/**/stdout")
    printed = "".join(log.read_text(errors="replace") for log in logs)
    assert "files: 1 of 8 rows: 4\n" in printed
    assert "files: 1 of 8 rows: 4\n" in PAGE
    assert "all rows: 4000 4000\n" in printed
