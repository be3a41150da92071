"""Processes beside that of the tests: their variables, and how they are run, started, seen and waited for."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO

SECONDS = 120.0
"""How long a test waits for anything before it fails."""

_OF_THIS_SESSION = ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_REMOTE")


def environment(**more: str) -> dict[str, str]:
    """The variables of a process that starts a Spark of its own, or a client of one, and more of them."""
    left = {name: value for name, value in os.environ.items() if name not in _OF_THIS_SESSION}
    return {**left, "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1", **more}


def ran(
    command: Sequence[object], folder: Path | None = None, *, stdin: str = "", **more: str
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, in a folder and with more variables."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=environment(**more),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )


def printed(command: Sequence[object], folder: Path | None = None, *, stdin: str = "", **more: str) -> str:
    """The output of a command that ends well."""
    done = ran(command, folder, stdin=stdin, **more)
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    return done.stdout


def java(program: str = "java") -> str:
    """A program of the Java that sessions run on."""
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", program)) if home else program


def start_child(
    program: str | Path,
    *arguments: str,
    stdout: IO[str] | int,
    stderr: IO[str],
    variables: Mapping[str, str] | None = None,
) -> subprocess.Popen[str]:
    """Start a Python program that sees the same modules. Its standard input is a pipe."""
    return subprocess.Popen(
        [sys.executable, str(program), *arguments],
        stdin=subprocess.PIPE,
        stdout=stdout,
        stderr=stderr,
        env=environment(PYTHONPATH=os.pathsep.join(sys.path)) | dict(variables or {}),
        text=True,
    )


def is_running(pid: int) -> bool:
    """Whether a process runs. A zombie, whose parent has not waited for it yet, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def wait_until(reached: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
    """Wait until a condition holds, or raise a TimeoutError."""
    end = time.monotonic() + seconds
    while not reached():
        if time.monotonic() > end:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.005)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    """Wait until a server listens. The test fails with the end of its log if it does not."""

    def listens() -> bool:
        assert process.poll() is None, log.read_text(errors="replace")[-4000:]
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            time.sleep(0.1)
            return False
        return True

    wait_until(listens, f"the server of {log}", 180)
