"""docs/command-line.md has each command of the package, and each of its arguments."""

import re
import subprocess
import sys

import pytest
from conftest import REPOSITORY

PAGE = (REPOSITORY / "docs" / "command-line.md").read_text()
COMMANDS = ["jar", "status", "optimize", "vacuum", "history", "recover", "unlock", "uninstall"]


def told(*arguments: str) -> str:
    command = [sys.executable, "-m", "spark_zorder", *arguments, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_these_are_all_commands() -> None:
    commands = re.findall(r"^    (\w+)(?: |$)", told(), re.MULTILINE)
    assert sorted(commands) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_has_the_arguments_of(command: str) -> None:
    assert f"$ spark-zorder {command}" in PAGE or f"$(spark-zorder {command})" in PAGE
    arguments = set(re.findall(r"--[a-z][a-z-]+", told(command))) - {"--help"}
    assert {argument for argument in arguments if argument not in PAGE} == set()
