"""Starts Spark's servers from pyspark's own scripts, as the docs say, on a free port of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pyspark

from spark_zorder import EXTENSION, jar_path

HOME = Path(pyspark.__file__).parent
BIN = HOME / "bin"

EXTENDED = ["--jars", str(jar_path()), "--conf", f"spark.sql.extensions={EXTENSION}"]
"""The arguments that bring the extension."""

_OF_ANOTHER_SESSION = ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_REMOTE")


def environment() -> dict[str, str]:
    """The variables of a process that starts a Spark of its own, or a client of one."""
    left = {name: value for name, value in os.environ.items() if name not in _OF_ANOTHER_SESSION}
    return {**left, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.contextmanager
def connect_server(folder: Path, arguments: list[str]) -> Iterator[str]:
    """Start a Spark Connect server, and give its URL."""
    port = free_port()
    settings = {"spark.connect.grpc.binding.port": str(port)}
    with _server("org.apache.spark.sql.connect.service.SparkConnectServer", folder, port, settings, arguments):
        yield f"sc://127.0.0.1:{port}"


@contextlib.contextmanager
def thrift_server(folder: Path, arguments: list[str]) -> Iterator[str]:
    """Start a HiveThriftServer2, and give its JDBC URL."""
    port = free_port()
    settings = {
        "spark.hadoop.hive.server2.thrift.port": str(port),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
    }
    with _server("org.apache.spark.sql.hive.thriftserver.HiveThriftServer2", folder, port, settings, arguments):
        yield f"jdbc:hive2://127.0.0.1:{port}"


@contextlib.contextmanager
def _server(main: str, folder: Path, port: int, settings: Mapping[str, str], arguments: list[str]) -> Iterator[None]:
    shared = {
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": f"{folder}/warehouse",
    }
    confs = [word for key, value in {**shared, **settings}.items() for word in ("--conf", f"{key}={value}")]
    command = [str(BIN / "spark-submit"), "--class", main, "--master", "local[2]", "--driver-memory", "1g"]
    log = folder / "server.log"
    with log.open("w") as output:
        process = subprocess.Popen(
            [*command, *arguments, *confs, "spark-internal"],
            cwd=folder,
            env=environment(),
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        _wait(process, port, log)
        yield
    finally:
        # The script's shell and its JVM.
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + 180
    while time.monotonic() < end and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.2)
    raise AssertionError(f"the server does not listen:\n{log.read_text()[-4000:]}")
