"""Servers of Spark's own, started from the pip package: Spark Connect, and Thrift for JDBC and dbt."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark

from spark_zorder import EXTENSION, jar_path

SECONDS = 120.0

WITH_US = {"spark.sql.extensions": EXTENSION, "spark.jars": str(jar_path())}
"""The settings that a server needs."""

_CONNECT = "org.apache.spark.sql.connect.service.SparkConnectServer"
_THRIFT = "org.apache.spark.sql.hive.thriftserver.HiveThriftServer2"


@contextmanager
def connect_server(work: Path, settings: Mapping[str, str]) -> Iterator[str]:
    """Run a Spark Connect server, and give its URL.

    Args:
        work: A folder for its warehouse and log.
        settings: Its settings, such as those of `WITH_US`.
    """
    port = _free_port()
    with _server(_CONNECT, port, work, {**settings, "spark.connect.grpc.binding.port": str(port)}):
        yield f"sc://127.0.0.1:{port}"


@contextmanager
def thrift_server(work: Path, settings: Mapping[str, str]) -> Iterator[int]:
    """Run a Thrift server, and give its port."""
    port = _free_port()
    hive = {
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={work}/metastore;create=true",
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
    }
    with _server(_THRIFT, port, work, {**settings, **hive}):
        yield port


@contextmanager
def _server(main: str, port: int, work: Path, settings: Mapping[str, str]) -> Iterator[None]:
    work.mkdir(parents=True, exist_ok=True)
    all_settings = {
        "spark.master": "local[2]",
        "spark.driver.memory": "1g",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(work / "warehouse"),
        "spark.local.dir": str(work / "scratch"),
        **settings,
    }
    command = [str(Path(pyspark.__file__).parent / "bin" / "spark-submit"), "--class", main]
    command += [word for key, value in all_settings.items() for word in ("--conf", f"{key}={value}")]
    environment = {**os.environ, "SPARK_LOCAL_IP": "127.0.0.1"}
    # The session of the other tests sets these for its own JVM.
    for name in ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_REMOTE"):
        environment.pop(name, None)
    with (work / "log").open("w") as log:
        process = subprocess.Popen(
            [*command, "spark-internal"], cwd=work, env=environment, stdout=log, stderr=subprocess.STDOUT
        )
    try:
        _wait_for(port, process, work / "log")
        yield
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError):
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        time.sleep(0.2)
    raise RuntimeError(f"the server does not answer: {log.read_text(errors='replace')[-3000:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
