"""Starts a process of the load and talks to it."""

import json
import subprocess
from pathlib import Path
from typing import Any

from processes import start_child


class WorkerEndedError(Exception):
    """A process of the load ended too early."""


class Worker:
    """A process of the load. It starts at once."""

    def __init__(self, role: str, work: Path, seed: str) -> None:
        self.role = role
        self._log = work / f"{role}.log"
        with self._log.open("w") as log:
            program = Path(__file__).with_name("worker.py")
            self._process = start_child(program, role, str(work), seed, stdout=subprocess.PIPE, stderr=log)

    def tell(self, what: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()

    def answer(self) -> dict[str, Any]:
        """Wait for its answer to a command, or for the line that says it is ready. Raises a WorkerEndedError."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise WorkerEndedError(f"{self.role} ended: {self._log.read_text()[-3000:]}")
        return dict(json.loads(line))

    def close(self) -> None:
        """End it, politely at first. A JVM ends with the Python process that started it."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.close()
            self._process.wait(60)
        except (OSError, subprocess.TimeoutExpired):
            self._process.kill()
            self._process.wait()
