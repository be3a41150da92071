"""The demo, as `make demo` runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

pytestmark = pytest.mark.matrix


def demo(folder: Path, *arguments: str) -> str:
    """The output of the demo."""
    command = [sys.executable, str(REPOSITORY / "python/demo/main.py"), "--out", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_of(printed: str) -> list[tuple[int, int, int, int]]:
    """The files kept and all files of each question, before and after."""
    counts = re.findall(r"(\d+) of (\d+)\D+(\d+) of (\d+)", printed)
    return [(int(a), int(b), int(c), int(d)) for a, b, c, d in counts]


def test_flights(tmp_path: Path) -> None:
    printed = demo(tmp_path)
    questions = files_of(printed)
    assert len(questions) == 5
    assert all(total == 64 for _, total, _, _ in questions)
    assert all(after < before for before, _, after, _ in questions)
    assert "All 5 answers are the same" in printed
    assert "pyarrow alone reads 336,776 rows" in printed


def test_tpch(tmp_path: Path) -> None:
    printed = demo(tmp_path, "--data", "tpch", "--scale", "0.01")
    assert len(files_of(printed)) == 5
    assert "All 5 answers are the same" in printed
    assert re.search(r"mean\s+│\s+[\d.]+\s+│\s+[\d.]+", printed)
