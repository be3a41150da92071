"""The nightly tool over 200 small tables of all kinds, with a writer beside it, run three times."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import night_of_two_hundred as night
import pytest
from child_process import start_child

pytestmark = pytest.mark.test_all


def test_two_hundred_tables_of_all_kinds(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("w") as file:
        process = start_child(night.__file__, str(tmp_path), stdout=subprocess.PIPE, stderr=file)
        out, _ = process.communicate(timeout=1800)
    assert process.returncode == 0, log.read_text()[-3000:]
    found = json.loads(out.splitlines()[-1])
    first, second, third = found["runs"]

    names = [f"t{number:03}" for number in range(night.TABLES)]
    kind = {name: number % len(night.KINDS) for number, name in enumerate(names)}
    ours = {name for name in names if kind[name] < night.OURS and kind[name] != night.OFF}
    off = {name for name in names if kind[name] == night.OFF}

    # No row is lost, doubled or changed, whatever the table is.
    assert found["wrong"] == []
    assert found["errors"] == []
    assert len(found["appended"]) > 0

    # All that need it are optimized.
    assert [run["code"] for run in (first, second, third)] == [0, 0, 0]
    assert {name for name, (outcome, _) in first["outcomes"].items() if outcome == "optimized"} == ours
    assert {name for name, (outcome, _) in first["outcomes"].items() if outcome == "skipped"} == off

    # Later there is only what the writer wrote, and then nothing.
    assert set(second["outcomes"]) - off <= set(found["appended"])
    assert {outcome for outcome, _ in third["outcomes"].values()} <= {"skipped", "nothing"}
    assert set(third["outcomes"]) - off <= set(second["outcomes"])
    for name in names:
        refused = kind[name] >= night.OURS and night.KINDS[kind[name]] != "EMPTY"
        assert found["states"][name].startswith("not ours: " if refused else "ok"), (name, found["states"][name])
