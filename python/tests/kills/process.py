"""The process that is to be killed, from outside."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

SECONDS = 300.0
"""How long a machine with other work may take to start a process."""


class DriverNotStartedError(Exception):
    """It ended, or was not ready in time. No table was touched."""


class Driver:
    """A process of its own, with a folder of its own, that starts at once and waits to be told which tables."""

    def __init__(self, work: Path, java_options: str = "") -> None:
        work.mkdir(parents=True)
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": os.pathsep.join(sys.path)}
        # The handshake of pyspark with its JVM is not inherited: this one has a JVM of its own.
        for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
            environment.pop(name, None)
        self._work = work
        self._log = (work / "log").open("w")
        self._out = (work / "out").open("w")
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("driver.py")), str(work), java_options],
            stdin=subprocess.PIPE,
            stdout=self._out,
            stderr=self._log,
            env=environment,
            text=True,
        )

    def pid(self) -> int:
        """The JVM's process id, which its locks bear; waits until it is warm.

        Raises:
            DriverNotStartedError: It never will be.
        """
        if not until(lambda: self._said() or self._process.poll() is not None, SECONDS) or not self._said():
            raise DriverNotStartedError((self._work / "log").read_text()[-3000:])
        return int(self._said()[0]["jvm"])

    @property
    def statement(self) -> float:
        """About as many seconds as a statement takes when its classes are loaded, on this machine at this time."""
        return min(max(0.3, float(self._said()[0]["first"]) / 3), 3.0)

    def begin(self, seed: str, tables: list[Path], nested: list[Path]) -> None:
        """Let it work on these tables, and on those over the first partition of some of them."""
        assert self._process.stdin is not None
        told = {"seed": seed, "tables": [str(t) for t in tables], "nested": [str(t) for t in nested]}
        self._process.stdin.write(json.dumps(told) + "\n")
        self._process.stdin.flush()

    def kill(self) -> None:
        """Nothing of it runs another step after this."""
        pid = self.pid()
        os.kill(pid, signal.SIGKILL)
        ended = until(lambda: not Path(f"/proc/{pid}").exists() or _is_zombie(pid), SECONDS)
        assert ended, f"{pid} outlived kill -9"
        self.close()

    def end(self) -> None:
        """Let it go, which was told nothing."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()
        self.close()

    def close(self) -> None:
        """End what is left of it. A JVM goes with the Python that started it."""
        self._process.kill()
        self._process.wait()
        self._log.close()
        self._out.close()

    def remove(self) -> None:
        """Its folder goes, and what it said with it."""
        shutil.rmtree(self._work)

    def _said(self) -> list[dict[str, Any]]:
        lines = (self._work / "out").read_text().split("\n")[:-1]
        return [json.loads(line) for line in lines]

    def errors(self) -> list[str]:
        """Statements that failed as they should not, while it lived."""
        return [f"{e['sql']}: {e['message']}" for e in self._said()[1:] if "sql" in e]

    def strategies(self) -> Counter[str]:
        """What each OPTIMIZE that ended has rewritten."""
        return Counter(e["strategy"] for e in self._said()[1:] if "strategy" in e)


def share_classes(work: Path) -> str:
    """Java options with which a process starts in two thirds of the time: it finds its classes in an archive."""
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
    """Wait for something, at most so long. Whether it came."""
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            return False
        time.sleep(0.0005)
    return True


def _is_zombie(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except FileNotFoundError:
        return True
