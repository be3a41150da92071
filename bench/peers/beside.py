"""Runs programs that stand beside the Scala tests and use the engine's internal classes."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

SPARKS = [
    line.split()[0]
    for line in (Path(__file__).parents[2] / "spark-versions.txt").read_text().splitlines()
    if line[:1].isdigit()
]
PROJECT = f"spark{SPARKS[-1].replace('.', '')}"
MARK = "RESULT "


def program(sbt: str, main: str, *arguments: object) -> dict[str, list[float]]:
    """Run one program.

    Args:
        sbt: the command that starts sbt
        main: the class to run
        arguments: the arguments of the program

    Returns:
        the figures that it prints, from one line of JSON
    """
    call = " ".join([f"{PROJECT}/Test/runMain", main, *map(str, arguments)])
    done = subprocess.run([*shlex.split(sbt), call], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if MARK + "{" in line]
    if not lines:
        raise RuntimeError(done.stdout[-5000:] + done.stderr[-5000:])
    found: dict[str, list[float]] = json.loads(lines[0][lines[0].index("{") :])
    return found
