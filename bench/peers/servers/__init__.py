"""Starts the storage that a part needs: HDFS, or an object store."""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 300.0
"""The seconds that a server has to start."""


@contextmanager
def running(command: list[str], folder: Path, port: int) -> Iterator[None]:
    """Run a process that answers at a port of this machine, and kill it at the end."""
    with tempfile.NamedTemporaryFile("w+", suffix=".log") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT)
        try:
            began = time.monotonic()
            while not _answers(port):
                if process.poll() is not None or time.monotonic() - began > PATIENCE:
                    raise RuntimeError(f"{command[0]} does not answer: {Path(log.name).read_text()[-2000:]}")
                time.sleep(0.2)
            yield
        finally:
            process.kill()
            process.wait()


def _answers(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True
