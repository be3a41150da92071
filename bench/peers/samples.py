"""Samples stacks with Java's flight recorder, and counts each for the work that it is part of."""

from __future__ import annotations

import re
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

from peers import sessions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from peers.sessions import Setting

_FRAME = re.compile(r"^\s+([\w.$<>/]+)\(", re.MULTILINE)
_EVENT = "jdk.ExecutionSample"
# Deeper stacks are cut. Then the frames that identify a task are missing.
_DEPTH = "-XX:FlightRecorderOptions=stackdepth=256"


def session(setting: Setting) -> SparkSession:
    """Start a session that can be recorded."""
    return sessions.start(setting, spark_driver_extraJavaOptions=_DEPTH)


def start(spark: SparkSession) -> None:
    """Start recording."""
    _tool(spark, "JFR.start", "name=peers", "settings=profile")


def stop(spark: SparkSession, file: Path) -> None:
    """Stop recording and write the samples to a file."""
    file.unlink(missing_ok=True)
    _tool(spark, "JFR.stop", "name=peers", f"filename={file}")


def shares(file: Path, kinds: Sequence[tuple[str, Sequence[str]]]) -> list[tuple[str, float]]:
    """The share of each kind of work in the task threads, the largest first."""
    command = ["jfr", "print", "--events", _EVENT, "--stack-depth", "256", str(file)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    counts: Counter[str] = Counter()
    for sample in text.split(_EVENT)[1:]:
        if "Executor task launch worker" in sample:
            counts[_kind(_FRAME.findall(sample), kinds)] += 1
    total = sum(counts.values())
    return [(kind, n / total) for kind, n in counts.most_common()]


def _kind(frames: Sequence[str], kinds: Sequence[tuple[str, Sequence[str]]]) -> str:
    for frame in frames:
        for kind, names in kinds:
            if any(name in frame for name in names):
                return kind
    return "all else"


def _tool(spark: SparkSession, *command: str) -> None:
    jvm: Any = spark._jvm
    pid = str(jvm.java.lang.ProcessHandle.current().pid())
    subprocess.run(["jcmd", pid, *command], capture_output=True, check=True)
