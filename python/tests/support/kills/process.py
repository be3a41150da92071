"""Starts and kills the process that runs statements."""

from __future__ import annotations

import json
import os
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from child_process import is_running, start_child

SECONDS = 300.0
"""The seconds that a busy machine may need to start a process."""


class DriverNotStartedError(Exception):
    """It ended, or was not ready in time. It touched no table."""


class Driver:
    """A process with a folder of its own. It starts at once and waits for its tables."""

    def __init__(self, work: Path, java_options: str = "") -> None:
        work.mkdir(parents=True)
        self._work = work
        self._log = (work / "log").open("w")
        self._out = (work / "out").open("w")
        program = Path(__file__).with_name("driver.py")
        self._process = start_child(program, str(work), java_options, stdout=self._out, stderr=self._log)

    def pid(self) -> int:
        """Wait until it is warm, and return the JVM's process id, which is in its locks.

        Raises:
            DriverNotStartedError: It has ended, or is not warm in time.
        """
        if not until(lambda: self._said() or self._process.poll() is not None, SECONDS) or not self._said():
            raise DriverNotStartedError((self._work / "log").read_text()[-3000:])
        return int(self._said()[0]["jvm"])

    @property
    def statement(self) -> float:
        """The approximate seconds of a statement when its classes are loaded, on this machine at this time."""
        return min(max(0.3, float(self._said()[0]["first"]) / 3), 3.0)

    def begin(self, seed: str, tables: list[Path]) -> None:
        """Let it work on these tables."""
        assert self._process.stdin is not None
        told = {"seed": seed, "tables": [str(t) for t in tables]}
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """Kill it. After this, none of its statements runs another step."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        ended = until(lambda: not is_running(pid), SECONDS)
        assert ended, f"{pid} outlived kill -9"
        self.close()

    def end(self) -> None:
        """Let it end before it got any tables."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self.close()

    def close(self) -> None:
        """End what is left of it. A JVM ends with the Python process that started it."""
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._out.close()

    def remove(self) -> None:
        """Delete its folder, with its output."""
        shutil.rmtree(self._work)

    def _said(self) -> list[dict[str, Any]]:
        lines = (self._work / "out").read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def errors(self) -> list[str]:
        """Its unexpected errors."""
        return [f"{e['sql']}: {e['message']}" for e in self._said()[1:] if "sql" in e]

    def strategies(self) -> Counter[str]:
        """The strategies of its OPTIMIZE statements that ended."""
        return Counter(e["strategy"] for e in self._said()[1:] if "strategy" in e)


def share_classes(work: Path) -> str:
    """Java options with which a process starts in two thirds of the time, because an archive holds its classes."""
    archive = work / "classes.jsa"
    quiet = "-Xlog:disable"
    making = Driver(work / "archive", f"-XX:ArchiveClassesAtExit={archive} {quiet}")
    try:
        making.pid()
        making.end()
    finally:
        making.close()
    return f"-XX:SharedArchiveFile={archive} -Xshare:auto {quiet}"


def until(reached: Callable[[], Any], seconds: float) -> bool:
    """Wait for a condition, for a limited time. Returns whether it holds."""
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            return False
        time.sleep(0.0005)
    return True
