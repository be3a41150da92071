"""Iceberg's extension and ours in one session, on a Spark that Iceberg supports: each handles its own tables."""

from typing import Any

import pytest
from programs import POINT, ROWS, answers_beside, files_touched

pytestmark = pytest.mark.test_all


@pytest.fixture(scope="module", params=["ours", "iceberg"])
def answers(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The answers of `beside_iceberg.py`, with each of the two named last."""
    folder = tmp_path_factory.mktemp("iceberg")
    return answers_beside("iceberg", str(request.param), folder)


def test_icebergs_statements_are_icebergs(answers: dict[str, Any]) -> None:
    for statement in ("ordered", "partitioned", "branch"):
        assert answers[statement] == []
    [result] = answers["rewrite"]
    assert result["rewritten_data_files_count"] > 0
    assert result["added_data_files_count"] > 0
    assert answers["history"] == [{"n": 2}]
    assert answers["named rows"] == ROWS
    assert answers["named point"] == POINT


def test_a_plain_table_is_ours(answers: dict[str, Any]) -> None:
    [result] = answers["plain optimize"]
    assert result["metrics"]["numFilesAdded"] == 8
    [scan] = answers["plain skipping"]
    assert scan["files_kept"] < scan["files_total"] == 8
    assert f"Skipping: {scan['files_kept']} of 8 files" in answers["plain plan"][0]["plan"]
    assert answers["plain rows"] == ROWS
    assert "version" in answers["used plain"][0]["metrics"]


@pytest.mark.parametrize("statement", ["optimize", "index", "vacuum"])
@pytest.mark.parametrize(
    ("table", "words"),
    [
        ("named", "a table of the catalog `ice`"),
        ("mixed", "a table of an extension of the session catalog"),
        ("folder", "a folder of the format `iceberg`"),
    ],
)
def test_nobody_has_such_statements(answers: dict[str, Any], table: str, words: str, statement: str) -> None:
    error = answers[f"{table} {statement}"]["error"]
    assert error.startswith("AnalysisException [ZORDER_UNSUPPORTED_TARGET.KIND]"), error
    assert words in error


@pytest.mark.parametrize("statement", ["optimize", "index", "vacuum"])
def test_icebergs_files_are_refused_by_their_folder(answers: dict[str, Any], statement: str) -> None:
    error = answers[f"disguised {statement}"]["error"]
    assert error.startswith("AnalysisException [ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT]"), error
    assert "Apache Iceberg" in error


def test_names_are_those_of_the_current_catalog(answers: dict[str, Any]) -> None:
    for statement in ("optimize", "history"):
        error = answers[f"used {statement}"]["error"]
        assert "a table of the catalog `ice`" in error
    assert {"info_name": "data_type", "info_value": "string"} in answers["used column"]


@pytest.mark.parametrize("table", ["hinted", "called"])
def test_rows_go_to_icebergs_files_along_our_curve(answers: dict[str, Any], table: str) -> None:
    assert files_touched(answers[f"{table} files"]) < 6
    assert answers[f"{table} rows"] == ROWS
    assert answers[f"{table} point"] == POINT
