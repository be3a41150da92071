"""The demo, as `make demo` runs it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

pytestmark = pytest.mark.test_all


def demo(folder: Path, *arguments: str) -> str:
    command = [sys.executable, str(REPOSITORY / "python/demo/main.py"), "--out", str(folder), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def files_of(printed: str) -> list[tuple[int, int, int, int]]:
    """The files kept and all files of each question, before and after."""
    counts = re.findall(r"(\d+) of (\d+)\D+(\d+) of (\d+)", printed)
    return [(int(a), int(b), int(c), int(d)) for a, b, c, d in counts]


def lines_of(printed: str) -> list[str]:
    line = r"^✓ (.+): \d+ → \d+ files, [\d.]+ → [\d.]+ MB, \d+ → \d+ ms, the same [\d,]+ rows$"
    return re.findall(line, printed, re.MULTILINE)


def assert_is_drawn(picture: Path, printed: str) -> None:
    assert printed.splitlines()[-1].endswith(f" {picture}")
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_flights(tmp_path: Path) -> None:
    printed = demo(tmp_path)
    questions = files_of(printed)
    assert len(questions) == 5
    assert all(total == 64 for _, total, _, _ in questions)
    assert all(3 * after <= before for before, _, after, _ in questions)
    assert len(lines_of(printed)) == 5
    assert "All 5 answers are the same" in printed
    assert_is_drawn(tmp_path / "flights.png", printed)
    assert "pyarrow alone reads 336,776 rows" in printed


def test_tpch(tmp_path: Path) -> None:
    printed = demo(tmp_path, "--data", "tpch", "--scale", "0.01")
    assert len(files_of(printed)) == 5
    assert len(lines_of(printed)) == 5
    assert "All 5 answers are the same" in printed
    assert_is_drawn(tmp_path / "tpch-0.01.png", printed)
    assert re.search(r"mean\s+│\s+[\d.]+\s+│\s+[\d.]+", printed)
