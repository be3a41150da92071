"""Starts a Python process with a JVM of its own, and sees whether a process runs."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO


def start_child(
    program: str | Path,
    *arguments: str,
    stdout: IO[str] | int,
    stderr: IO[str],
    prefix: Sequence[str] = (),
    variables: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start a program that sees the same modules. Its standard input is a pipe.

    Args:
        program: A file of Python.
        arguments: Its arguments.
        stdout: Where its output goes.
        stderr: Where its error output goes.
        prefix: A command that starts it.
        variables: More variables of its environment.
    """
    own = {"SPARK_LOCAL_IP": "127.0.0.1", "PYTHONPATH": os.pathsep.join(sys.path)}
    environment = {**os.environ, **own, **(variables or {})}
    # These lead pyspark to the JVM of this process. The child starts its own.
    for name in ("PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET"):
        environment.pop(name, None)
    return subprocess.Popen(
        [*prefix, sys.executable, str(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=stderr,
        env=environment,
        text=True,
    )


def is_running(pid: int) -> bool:
    """Whether a process runs. A zombie, whose parent has not waited for it yet, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False
