"""Tables of a Hive metastore, stored as Parquet and as ORC, in a session of their own."""

from typing import Any

import pytest
from programs import answers_of

from spark_zorder import jar_path

pytestmark = pytest.mark.test_all


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return answers_of("hive_session.py", str(jar_path()), folder=tmp_path_factory.mktemp("hive"))


stored_as = pytest.mark.parametrize("stored", ["parquet", "orc"])
kinds = pytest.mark.parametrize("kind", ["flat_", "parts_", "using_", "default.using_"])
partitioned = pytest.mark.parametrize("kind", ["parts_", "using_"])


@stored_as
@kinds
def test_a_table_is_clustered_and_its_files_are_skipped(answers: dict[str, Any], kind: str, stored: str) -> None:
    table = kind + stored
    [result] = answers[f"{table} optimize"]
    assert result["metrics"]["numFilesAdded"] == 8
    assert answers[f"{table} rows"] == [{"n": 2000, "s": 1999 * 1000}]
    [scan] = answers[f"{table} skipping"]
    assert scan["files_kept"] < scan["files_total"] == 8
    assert answers[f"{table} point"] == [{"id": 423}, {"id": 1423}]


@stored_as
def test_what_is_written_later_is_read(answers: dict[str, Any], stored: str) -> None:
    assert answers[f"flat_{stored} point later"] == [{"id": -1}, {"id": 423}, {"id": 1423}]
    assert answers[f"parts_{stored} point later"] == [{"id": -2}, {"id": 423}, {"id": 1423}]


@stored_as
@partitioned
def test_where_chooses_partitions(answers: dict[str, Any], kind: str, stored: str) -> None:
    [result] = answers[f"{kind}{stored} where"]
    assert result["metrics"]["partitionsOptimized"] == 1
    assert result["metrics"]["numFilesAdded"] == 4


@stored_as
@partitioned
def test_a_partition_elsewhere_is_refused_unless_left_out(answers: dict[str, Any], kind: str, stored: str) -> None:
    table = kind + stored
    error = answers[f"{table} outside"]["error"]
    assert error.startswith("AnalysisException [ZORDER_UNSAFE_TABLE.PARTITION_OUTSIDE]"), error
    assert f"elsewhere_{table}" in error
    assert answers[f"{table} outside files"][0]["n"] >= 1
    [result] = answers[f"{table} left out"]
    assert result["metrics"]["partitionsOptimized"] == 2
    there = [{"n": 100, "s": 4950}]
    assert answers[f"{table} rows there"] == there
    assert answers[f"{table} rows in all"] == [{"n": (1001 if kind == "parts_" else 2000) + 100}]
    assert "error" not in answers[f"{table} index"]
    assert answers[f"{table} rows indexed"] == there


def test_other_formats_of_hive_are_refused(answers: dict[str, Any]) -> None:
    error = answers["text"]["error"]
    assert error.startswith("AnalysisException [ZORDER_UNSUPPORTED_TARGET.KIND]"), error


def test_which_reader_queries_use_is_no_concern_of_a_statement(answers: dict[str, Any]) -> None:
    [result] = answers["unconverted"]
    assert result["metrics"]["numFilesAdded"] >= 1
    for plan in (answers["unconverted reader before"], answers["unconverted reader"]):
        assert "Scan hive" in str(plan)
    assert answers["unconverted rows"] == answers["flat_parquet point later"]
