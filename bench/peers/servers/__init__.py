"""Storage that a part starts for itself: HDFS, and an object store."""

from __future__ import annotations

import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 300.0
"""Seconds until a server has to answer."""


@contextmanager
def running(command: list[str], folder: Path, ready: str) -> Iterator[None]:
    """A process that has said that it is ready; it is killed in the end."""
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        try:
            began = time.monotonic()
            while ready not in Path(log.name).read_text(errors="replace"):
                if process.poll() is not None or time.monotonic() - began > PATIENCE:
                    raise RuntimeError(f"{command[0]} does not answer: {Path(log.name).read_text()[-2000:]}")
                time.sleep(0.2)
            yield
        finally:
            process.kill()
            process.wait()
