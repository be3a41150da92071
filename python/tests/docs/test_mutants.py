"""`make mutants` takes half an hour. This test only checks that the sources still have the text of each bug."""

import re
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[3] / "tools"


def test_each_planted_bug_has_its_place_in_the_sources() -> None:
    command = [sys.executable, str(TOOLS / "mutants.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [bugs] = re.findall(r"^(\d+) bugs can be planted$", done.stdout)
    assert int(bugs) >= 24
