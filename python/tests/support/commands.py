"""Runs a command of Spark's in a folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

from servers import environment


def run(command: list[str], folder: Path, stdin: str = "") -> str:
    """Run a command and return its output."""
    done = started(command, folder, stdin)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def started(command: list[str], folder: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    """Run a command to its end."""
    # Without a terminal, Python runs as a program and skips the shell's start-up file.
    options = "-i" if command[0].endswith("/pyspark") else ""
    return subprocess.run(
        command,
        cwd=folder,
        env={**environment(), "PYSPARK_DRIVER_PYTHON_OPTS": options},
        input=stdin,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
