"""The pictures of docs/ show what the code computes now: drawn again, they have the same words and numbers."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY

IMAGES = REPOSITORY / "docs" / "img"
# Ticks of the axes are matplotlib's, and change with its versions.
TICK = re.compile("[\u2212\\d.]+")


@pytest.mark.test_all
def test_each_picture_says_the_same_when_it_is_drawn_again(tmp_path: Path) -> None:
    command = [sys.executable, str(REPOSITORY / "tools" / "draw_docs.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    drawn = {path.name: words(path) for path in tmp_path.glob("*.svg")}
    assert {name: words(IMAGES / name) for name in drawn} == drawn


def words(picture: Path) -> list[str]:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    return sorted(text for text in texts if not TICK.fullmatch(text))
