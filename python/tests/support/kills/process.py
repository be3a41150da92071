"""Starts and kills the process that runs statements."""

import json
import os
import shutil
import signal
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from processes import is_running
from spark_process import SparkProcess

from kills.statements import Known

SECONDS = 300.0
"""The seconds that a busy machine may need to end a process."""

JVM = "result = spark._jvm.java.lang.ProcessHandle.current().pid()"
"""The id of a process's JVM, which is in its locks."""


class Driver:
    """A process with a folder of its own, which works on tables until it is killed. `seconds` are those of `first`."""

    def __init__(self, process: SparkProcess, work: Path, first: list[str]) -> None:
        self._process, self._work, self.name = process, work, work.name
        self.pid = int(process.run(JVM))
        self.seconds: list[float] = []
        for sql in first:
            began = time.monotonic()
            process.sql(sql)
            self.seconds.append(time.monotonic() - began)

    def begin(self, seed: str, tables: list[Known]) -> None:
        told = [asdict(table) for table in tables]
        self._process.run(
            f"from kills.statements import begin\nbegin(spark, {told}, {seed!r}, {str(self._work / 'out')!r})\n"
            "result = None"
        )

    def kill_jvm(self) -> None:
        """Kill what runs statements. `kill` follows."""
        os.kill(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """Kill all of it. After this, none of its statements runs another step."""
        self._process.kill()
        assert until(lambda: not is_running(self.pid), SECONDS), f"{self.pid} outlived kill -9"

    def said(self) -> list[dict[str, Any]]:
        """What it said of its statements. A kill may have cut the last line."""
        out = self._work / "out"
        return [json.loads(line) for line in out.read_text().split("\n")[:-1]] if out.exists() else []

    def remove(self) -> None:
        shutil.rmtree(self._work)


def archived(start: Callable[[Path, dict[str, str]], SparkProcess], folder: Path, statements: list[str]) -> str:
    """Java options with which a process starts in two thirds of the time, because an archive holds its classes."""
    archive, quiet = folder / "classes.jsa", "-Xlog:disable"
    options = f"-XX:ArchiveClassesAtExit={archive} {quiet}"
    making = start(folder / "archive", {"spark.driver.extraJavaOptions": options})
    for sql in statements:
        making.sql(sql)
    pid = int(making.run(JVM))
    making.end()
    until(lambda: not is_running(pid), SECONDS)
    return f"-XX:SharedArchiveFile={archive} -Xshare:auto {quiet}"


def until(reached: Callable[[], Any], seconds: float) -> bool:
    """Wait for a condition, for a limited time. Returns whether it holds."""
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            return False
        time.sleep(0.0005)
    return True
