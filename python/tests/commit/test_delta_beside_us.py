"""Both extensions in one session, on a Spark that Delta Lake has a release for: each handles its own tables.

The extension named last gets each statement first. Ours hands on what is not its own. Delta's takes all it knows.
"""

from typing import Any

import pytest
from programs import POINT, ROWS, answers_beside, files_touched

pytestmark = pytest.mark.test_all


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The answers of `beside_delta.py`, with ours named last."""
    return answers_beside("delta", "ours", tmp_path_factory.mktemp("delta"))


delta_tables = pytest.mark.parametrize("table", ["named", "format", "quoted"])
plain_tables = pytest.mark.parametrize("table", ["plain", "plain_format", "plain_quoted"])
all_statements = pytest.mark.parametrize("statement", ["optimize", "options", "history", "vacuum", "restore", "index"])


@delta_tables
def test_delta_optimizes_its_own_table(answers: dict[str, Any], table: str) -> None:
    [result] = answers[f"{table} optimize"]
    # A field of Delta's result that ours lacks.
    assert "numTableColumns" in result["metrics"]
    assert (result["metrics"]["numFilesRemoved"], result["metrics"]["numFilesAdded"]) == (4, 1)
    assert answers[f"{table} point"] == POINT


@delta_tables
def test_delta_tells_its_own_history(answers: dict[str, Any], table: str) -> None:
    latest, first = answers[f"{table} history"]
    assert (latest["operation"], latest["version"], first["version"]) == ("OPTIMIZE", 1, 0)
    assert "zOrderBy" in latest["operationParameters"]
    assert "Delta-Lake" in latest["engineInfo"]


def test_delta_takes_all_of_its_statements_of_its_table(answers: dict[str, Any]) -> None:
    assert "numTableColumns" in answers["named again"][0]["metrics"]
    assert [row["version"] for row in answers["named limited"]] == [1]
    assert answers["named restore"][0]["num_restored_files"] == 4
    assert answers["named files"] == [{"files": 4}]
    assert len(answers["named dry vacuum"]) == 1
    assert [list(row) for row in answers["named vacuum"]] == [["path"]]
    assert answers["named again rows"] == ROWS
    # The files that OPTIMIZE retired.
    assert len(answers["quoted vacuum"]) == 4


@pytest.mark.parametrize("table", ["hinted", "called"])
def test_rows_go_to_deltas_files_along_our_curve(answers: dict[str, Any], table: str) -> None:
    assert files_touched(answers[f"{table} files"]) < 6
    assert answers[f"{table} rows"] == ROWS
    assert answers[f"{table} point"] == POINT


@delta_tables
def test_no_index_of_ours_comes_beside_a_log(answers: dict[str, Any], table: str) -> None:
    error = answers[f"{table} index"]["error"]
    assert error.startswith(
        "AnalysisException [ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT]"
        if table == "quoted"
        else "AnalysisException [ZORDER_UNSUPPORTED_TARGET.KIND]"
    ), error


@pytest.mark.parametrize("statement", ["optimize", "vacuum", "index"])
def test_a_folder_with_a_log_is_refused_by_the_format_of_its_files(answers: dict[str, Any], statement: str) -> None:
    error = answers[f"disguised {statement}"]["error"]
    assert error.startswith("AnalysisException [ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT]"), error
    assert "Delta Lake" in error


@plain_tables
def test_a_plain_table_is_ours(answers: dict[str, Any], table: str) -> None:
    [result] = answers[f"{table} optimize"]
    metrics = result["metrics"]
    assert (metrics["version"], metrics["numFilesRemoved"], metrics["numFilesAdded"]) == (1, 4, 1)
    [entry] = answers[f"{table} history"]
    assert (entry["version"], entry["operation"], entry["state"]) == (1, "OPTIMIZE", "committed")
    assert answers[f"{table} rows"] == ROWS


def test_what_only_our_grammar_has_is_ours(answers: dict[str, Any]) -> None:
    [result] = answers["plain into 8"]
    assert (result["metrics"]["version"], result["metrics"]["numFilesAdded"]) == (2, 8)
    [scan] = answers["plain skipping"]
    assert scan["files_kept"] < scan["files_total"] == 8
    assert f"Skipping: {scan['files_kept']} of 8 files" in answers["plain plan"][0]["plan"]
    assert answers["plain into 8 point"] == POINT


def test_what_else_is_said_of_a_plain_table_is_ours(answers: dict[str, Any]) -> None:
    for statement in ("dry vacuum", "restore", "vacuum"):
        assert isinstance(answers[f"plain {statement}"], list), answers[f"plain {statement}"]
    assert "version" in answers["plain again"][0]["metrics"]


def test_partitions_of_a_plain_table_are_ours(answers: dict[str, Any]) -> None:
    [result] = answers["parts optimize"]
    assert (result["metrics"]["version"], result["metrics"]["partitionsOptimized"]) == (1, 1)
    assert isinstance(answers["parts index"], list), answers["parts index"]
    assert answers["parts rows"] == ROWS


@pytest.mark.parametrize("target", ["json", "json folder", "view", "temporary view"])
@all_statements
def test_on_what_is_nobodys_the_error_says_what_we_take(answers: dict[str, Any], target: str, statement: str) -> None:
    error = answers[f"{target} {statement}"]["error"]
    assert error.startswith("AnalysisException [ZORDER_UNSUPPORTED_TARGET.KIND]"), error
    assert "tables of the session catalog stored as Parquet or ORC" in error


@all_statements
def test_a_table_that_is_not_there_is_said_to_be_missing(answers: dict[str, Any], statement: str) -> None:
    error = answers[f"nowhere {statement}"]["error"]
    assert error.startswith("AnalysisException ["), error
    assert "nowhere" in error
