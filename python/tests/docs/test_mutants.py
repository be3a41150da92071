"""`make mutants` takes half an hour. This test only checks that the sources still have the text of each bug."""

import re
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / "tools"


def test_each_planted_bug_has_its_place_in_the_sources() -> None:
    done = subprocess.run(
        [sys.executable, TOOLS / "mutants.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    found = re.fullmatch(r"(\d+) bugs can be planted\n", done.stdout)
    assert found
    assert int(found[1]) >= 24
