"""spark-submit on YARN and HDFS, in both deploy modes, as docs/settings/clusters.md says it."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import wait_until
from fetched_jars import fetched_jars
from submit import SPARK_HOME, by_jar, submit, wait

pytestmark = pytest.mark.extended

PROGRAM = Path(__file__).with_name("submitted_program.py")


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of the client's configuration, while the cluster runs."""
    work = tmp_path_factory.mktemp("yarn")
    folder = work / "conf"
    folder.mkdir()
    java = Path(os.environ["JAVA_HOME"], "bin", "java") if "JAVA_HOME" in os.environ else "java"
    path = os.pathsep.join([*fetched_jars("yarn"), f"{SPARK_HOME}/jars/*"])
    with (work / "log").open("w") as log:
        # Java compiles the source itself.
        started = subprocess.Popen(
            [str(java), "-Xmx512m", "-cp", path, str(Path(__file__).with_name("MiniYarn.java")), str(folder)],
            cwd=work,
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=subprocess.STDOUT,
        )
    try:
        wait_until(lambda: (folder / "yarn-site.xml").exists() or started.poll() is not None, "the cluster", 300)
        assert started.poll() is None, (work / "log").read_text()[-3000:]
        yield folder
    finally:
        started.kill()
        started.wait()


@pytest.mark.parametrize("mode", ["client", "cluster"])
def test_a_folder_of_hdfs_is_clustered_and_queried(configuration: Path, tmp_path: Path, mode: str) -> None:
    arguments = ["--master", "yarn", "--deploy-mode", mode, "--num-executors", "2", *by_jar()]
    # The containers are on this host and find Spark's own jars here.
    arguments += ["--conf", f"spark.yarn.jars=local:{SPARK_HOME}/jars/*", "--conf", "spark.yarn.maxAppAttempts=1"]
    answer = tmp_path / "answer"
    environment = {"HADOOP_CONF_DIR": str(configuration)}
    running = submit(
        arguments, PROGRAM, f"/data/{mode}", str(answer), folder=tmp_path, environment=environment
    )
    try:
        wait(running, tmp_path)
    finally:
        running.kill()
        running.wait()
    found = json.loads(answer.read_text())
    assert (found["master"], found["mode"]) == ("yarn", mode)
    assert found["files"] == [1, 8]
    assert found["ids"] == [i for i in range(4000) if i * 7919 % 1000 == 17]
    assert found["rows"] == [4000, 4000]
