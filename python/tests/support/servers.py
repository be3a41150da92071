"""Starts Spark's servers from pyspark's own scripts, as the docs say, on a free port of this machine."""

import contextlib
import os
import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark
from processes import environment, free_port, wait_for_port

from spark_zorder import EXTENSION, jar_path

HOME = Path(pyspark.__file__).parent
BIN = HOME / "bin"

WITH_US = {"spark.sql.extensions": EXTENSION, "spark.jars": str(jar_path())}
"""The settings that a server needs."""


def confs(settings: Mapping[str, object]) -> list[str]:
    """Settings as the arguments of a command."""
    return [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]


@contextlib.contextmanager
def connect_server(work: Path, settings: Mapping[str, str]) -> Iterator[str]:
    """Run a Spark Connect server whose warehouse and log are in a folder, and give its URL."""
    port = free_port()
    main = "org.apache.spark.sql.connect.service.SparkConnectServer"
    with _server(main, port, work, {**settings, "spark.connect.grpc.binding.port": str(port)}):
        yield f"sc://127.0.0.1:{port}"


@contextlib.contextmanager
def thrift_server(work: Path, settings: Mapping[str, str]) -> Iterator[int]:
    """Run a HiveThriftServer2 with a metastore of its own, and give its port."""
    port = free_port()
    hive = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={work}/metastore;create=true",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={work}",
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
    }
    with _server("org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", port, work, {**settings, **hive}):
        yield port


@contextlib.contextmanager
def _server(main: str, port: int, work: Path, settings: Mapping[str, str]) -> Iterator[None]:
    work.mkdir(parents=True, exist_ok=True)
    shared = {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": f"{work}/warehouse",
        "spark.local.dir": f"{work}/scratch",
    }
    command = [str(BIN / "spark-submit"), "--class", main, *confs({**shared, **settings}), "spark-internal"]
    log = work / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=work, env=environment(), stdout=output, stderr=output, start_new_session=True
        )
    try:
        wait_for_port(port, process, log)
        yield
    finally:
        # The script's shell and its JVM.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
