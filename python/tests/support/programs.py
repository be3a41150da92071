"""Runs programs in sessions of their own, because a JVM has only one catalog and one list of extensions."""

import json
import sys
from pathlib import Path
from typing import Any

from conftest import REPOSITORY
from fetched_jars import fetched_jars, spark_of
from processes import printed

from spark_zorder import jar_path

ROWS = [{"n": 2000, "s": 1999 * 1000}]
POINT = [{"id": 423}, {"id": 1423}]
"""The answers of `Answers.ask_rows`."""


def python_of(spark: str) -> str:
    """The Python of the environment of an older Spark."""
    return str(REPOSITORY / "build" / "envs" / spark / "bin" / "python")


def answers_beside(other: str, last: str, folder: Path) -> dict[str, Any]:
    """The answers of `beside_<other>.py`, on their Spark. The extension named last gets statements first."""
    spark = spark_of(other)
    jars = ",".join([str(jar_path(spark)), *fetched_jars(other)])
    return answers_of(f"beside_{other}.py", jars, str(folder), last, folder=folder, python=python_of(spark))


def files_touched(files: list[dict[str, int]]) -> float:
    """The mean number of files, of 16 with 2000 rows, that a lookup of a value of `a` or `b` touches, by bounds."""
    assert (len(files), sum(file["n"] for file in files)) == (16, 2000)
    touched = [
        sum(file[f"{column}_min"] <= value <= file[f"{column}_max"] for file in files)
        for column in ("a", "b")
        for value in range(1000)
    ]
    return sum(touched) / len(touched)


def answers_of(program: str, *arguments: str, folder: Path, python: str = sys.executable) -> dict[str, Any]:
    """The answers of a program of this folder, which ends with `Answers.tell()`."""
    out = printed([python, Path(__file__).with_name(program), *arguments], folder, PYSPARK_PYTHON=python, PYTHONPATH="")
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    return found
