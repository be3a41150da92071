"""A process of the load, from outside."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any


class WorkerEndedError(Exception):
    """A process of the load ended by itself."""


class Worker:
    """One of them; it starts at once."""

    def __init__(self, role: str, work: Path, seed: str) -> None:
        self.role = role
        self._log = work / f"{role}.log"
        environment = os.environ | {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": os.pathsep.join(sys.path)}
        # The handshake of pyspark with its JVM is not inherited: this one has a JVM of its own.
        for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
            environment.pop(name, None)
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [sys.executable, str(Path(__file__).with_name("worker.py")), role, str(work), seed],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                env=environment,
                text=True,
            )

    def tell(self, what: str) -> None:
        """Let it do something."""
        assert self._process.stdin is not None
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """What it says to that, or that it is ready; waits for it.

        Raises:
            WorkerEndedError: It has ended.
        """
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerEndedError(f"{self.role} ended: {self._log.read_text()[-3000:]}")
        return dict(json.loads(line))

    def close(self) -> None:
        """End it, politely at first. A JVM goes with the Python that started it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(60)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
