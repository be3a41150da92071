"""Both extensions in one session, on a Spark that Delta Lake has a release for: each keeps what is its own."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY

from spark_zorder import jar_path

pytestmark = pytest.mark.extended


SPARK = "4.1"

TOOK = "tables of the session catalog stored as Parquet or ORC"


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the statements of `beside_delta.py` answered."""
    folder = tmp_path_factory.mktemp("delta")
    python = REPOSITORY / "build" / "envs" / SPARK / "bin" / "python"
    environment = {**os.environ, "PYSPARK_PYTHON": str(python), "SPARK_LOCAL_IP": "127.0.0.1"}
    for name in ("PYSPARK_SUBMIT_ARGS", "PYSPARK_GATEWAY_PORT", "PYSPARK_GATEWAY_SECRET", "SPARK_REMOTE", "PYTHONPATH"):
        environment.pop(name, None)
    program = Path(__file__).with_name("beside_delta.py")
    done = subprocess.run(
        [str(python), str(program), str(jar_path(SPARK)), str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


ROWS = [{"n": 2000, "s": 1999 * 1000}]
POINT = [{"id": 423}, {"id": 1423}]

delta_tables = pytest.mark.parametrize("table", ["named", "format", "quoted"])
plain_tables = pytest.mark.parametrize("table", ["plain", "plain_format", "plain_quoted"])


def ids(rows: Any) -> list[dict[str, int]]:
    assert isinstance(rows, list), rows
    return sorted(rows, key=lambda row: int(row["id"]))


@delta_tables
def test_delta_optimizes_its_own_table(answers: dict[str, Any], table: str) -> None:
    [result] = answers[f"{table} optimize"]
    # Fields of Delta's result that ours has not.
    assert "numTableColumns" in result["metrics"]
    assert result["metrics"]["numFilesRemoved"] == 4
    assert answers[f"{table} files"] == [{"files": 1}]
    assert "numTableColumns" in answers[f"{table} again"][0]["metrics"]


@delta_tables
def test_delta_tells_its_history_restores_and_vacuums(answers: dict[str, Any], table: str) -> None:
    history = answers[f"{table} history"]
    assert [row["operation"] for row in history][-2:] == ["OPTIMIZE", history[-1]["operation"]]
    assert "engineInfo" in history[0]
    assert answers[f"{table} restore"][0]["num_restored_files"] == 4
    assert answers[f"{table} files restored"] == [{"files": 4}]
    assert len(answers[f"{table} dry vacuum"]) == 1
    assert "error" not in answers[f"{table} vacuum"]
    assert answers[f"{table} rows"] == ROWS
    assert ids(answers[f"{table} point"]) == POINT


@delta_tables
def test_no_index_of_ours_comes_beside_a_log(answers: dict[str, Any], table: str) -> None:
    assert "[ZORDER_" in answers[f"{table} index"]["error"]


@plain_tables
def test_a_plain_table_is_ours(answers: dict[str, Any], table: str) -> None:
    [result] = answers[f"{table} optimize"]
    assert result["metrics"]["version"] == 1
    assert result["metrics"]["numFilesAdded"] == 8
    [entry] = answers[f"{table} history"]
    assert (entry["operation"], entry["state"]) == ("OPTIMIZE", "committed")
    [scan] = answers[f"{table} skipping"]
    assert scan["files_kept"] < scan["files_total"] == 8
    assert ids(answers[f"{table} point"]) == POINT
    for statement in ("restore", "vacuum", "again"):
        assert isinstance(answers[f"{table} {statement}"], list), answers[f"{table} {statement}"]
    assert answers[f"{table} rows"] == ROWS


@pytest.mark.parametrize("table", ["j", "v", "tv"])
def test_on_what_is_nobodys_the_error_says_what_we_take(answers: dict[str, Any], table: str) -> None:
    for statement in ("optimize", "options", "index", "history"):
        error = answers[f"{table} {statement}"]["error"]
        assert error.startswith("AnalysisException [ZORDER_UNSUPPORTED_TARGET]"), (statement, error)
        assert TOOK in error


def test_a_table_that_is_not_there_is_said_to_be_missing(answers: dict[str, Any]) -> None:
    for statement in ("optimize", "options", "index", "history"):
        error = answers[f"nowhere {statement}"]["error"]
        assert error.startswith("AnalysisException ["), error
        assert "nowhere" in error
