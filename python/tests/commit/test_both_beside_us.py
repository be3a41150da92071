"""Delta Lake's, Iceberg's and our extension in one session, in every order: ours must be named after Delta's."""

from itertools import permutations
from typing import Any

import pytest
from conftest import REPOSITORY, SUPPORT
from fetched_jars import fetched_jars, spark_of
from programs import POINT, ROWS, answers_of, python_of

from spark_zorder import jar_path

pytestmark = pytest.mark.test_all

ORDERS = [" ".join(order) for order in permutations(("ours", "delta", "iceberg"))]
OURS_LATER = [order for order in ORDERS if order.index("delta") < order.index("ours")]
DELTA_LATER = [order for order in ORDERS if order not in OURS_LATER]


@pytest.fixture(scope="module")
def all_answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The answers of `beside_both.py`, by the order of the extensions."""
    spark = spark_of("delta")
    assert spark == spark_of("iceberg")
    folder = tmp_path_factory.mktemp("both")
    jars = ",".join([str(jar_path(spark)), *fetched_jars("delta"), *fetched_jars("iceberg")])
    return answers_of("beside_both.py", jars, str(folder), folder=folder, python=python_of(spark))


@pytest.fixture(params=OURS_LATER)
def answers(all_answers: dict[str, Any], request: pytest.FixtureRequest) -> dict[str, Any]:
    found: dict[str, Any] = all_answers[request.param]
    return found


def test_a_plain_table_is_ours(answers: dict[str, Any]) -> None:
    [result] = answers["plain optimize"]
    assert (result["metrics"]["version"], result["metrics"]["numFilesAdded"]) == (1, 8)
    [entry] = answers["plain history"]
    assert (entry["operation"], entry["state"]) == ("OPTIMIZE", "committed")
    [scan] = answers["plain skipping"]
    assert (scan["files_kept"], scan["files_total"]) == (1, 8)
    assert f"Skipping: {scan['files_kept']} of 8 files" in answers["plain plan"][0]["plan"]
    assert isinstance(answers["plain vacuum"], list), answers["plain vacuum"]
    assert answers["plain restore"][0]["num_restored_files"] == 4


def test_the_list_of_tables_says_whose_they_are(answers: dict[str, Any]) -> None:
    states = {row["table"]: row["state"] for row in answers["plain clustering"]}
    assert states["default.plain"] == "ok"
    assert states["default.d"].startswith("not ours"), states


def test_delta_optimizes_its_own_table(answers: dict[str, Any]) -> None:
    [result] = answers["delta optimize"]
    # A field of Delta's result that ours lacks.
    assert "numTableColumns" in result["metrics"]
    assert "Delta-Lake" in answers["delta history"][0]["engineInfo"]
    assert answers["delta restore"][0]["num_restored_files"] == 4
    assert "ZORDER_UNSUPPORTED_TARGET.KIND" in answers["delta index"]["error"]


def test_iceberg_takes_its_own_statements(answers: dict[str, Any]) -> None:
    assert answers["iceberg ordered"] == []
    assert answers["iceberg rewrite"][0]["rewritten_data_files_count"] == 4


@pytest.mark.parametrize("statement", ["OPTIMIZE", "VACUUM"])
def test_of_icebergs_table_delta_says_that_it_is_not_its_own(answers: dict[str, Any], statement: str) -> None:
    assert "[DELTA_ONLY_OPERATION]" in answers[f"iceberg {statement}"]["error"]
    assert "ZORDER_UNSUPPORTED_TARGET.KIND" in answers["iceberg CREATE SKIPPING INDEX ON"]["error"]


@pytest.mark.parametrize("statement", ["OPTIMIZE", "VACUUM", "CREATE SKIPPING INDEX ON"])
def test_what_is_nobodys_is_refused(answers: dict[str, Any], statement: str) -> None:
    assert "[ZORDER_UNSUPPORTED_TARGET.KIND]" in answers[f"view {statement}"]["error"]
    assert "nowhere" in answers[f"nowhere {statement}"]["error"]


@pytest.mark.parametrize("order", DELTA_LATER)
def test_named_after_ours_delta_refuses_plain_tables(all_answers: dict[str, Any], order: str) -> None:
    answers = all_answers[order]
    assert "[DELTA_ONLY_OPERATION]" in answers["plain history"]["error"]
    assert "[DELTA_ONLY_OPERATION]" in answers["plain vacuum"]["error"]
    assert "[TABLE_OR_VIEW_NOT_FOUND]" in answers["plain restore"]["error"]
    # Delta's grammar has no OPTIONS.
    assert answers["plain optimize"][0]["metrics"]["numFilesAdded"] == 8
    assert "numTableColumns" in answers["delta optimize"][0]["metrics"]


@pytest.mark.parametrize("order", ORDERS)
def test_all_rows_are_there(all_answers: dict[str, Any], order: str) -> None:
    answers = all_answers[order]
    for table in ("plain", "d", "ice.db.t"):
        assert answers[f"{table} rows"] == ROWS
        assert answers[f"{table} point"] == POINT
    assert answers["all rows"] == ROWS


def test_the_page_has_these_settings() -> None:
    page = (REPOSITORY / "docs" / "readers.md").read_text()
    program = "".join((SUPPORT / name).read_text() for name in ("answers.py", "beside_both.py"))
    [extensions] = [line for line in page.splitlines() if line.startswith("spark.sql.extensions ")]
    assert extensions.endswith(",org.sparkzorder.ZOrderSparkExtension")
    for line in page.partition("```properties\n")[2].partition("```")[0].splitlines():
        name, _, value = line.partition(" ")
        for word in (name, *value.strip().split(",")):
            assert word.startswith("/") or f'"{word}"' in program, word
