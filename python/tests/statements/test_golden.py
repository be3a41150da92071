"""Every statement, run from SQL files: a change of behaviour shows in a result file. `make golden` writes them."""

import os
from pathlib import Path

import golden
import pytest
from conftest import REPOSITORY
from pyspark.sql import SparkSession
from spark_versions import SPARKS, minor

RESULTS = REPOSITORY / "sql-tests" / "results"
INPUTS = sorted((REPOSITORY / "sql-tests" / "inputs").glob("*.sql"))
SLOW = ("bytes_mapping", "char_columns", "delta_forms", "partition_names", "schemas", "table_options")
"""They take longer than `make test` has time for."""


@pytest.mark.older_sparks
@pytest.mark.parametrize(
    "source",
    [pytest.param(path, marks=[pytest.mark.test_rest] if path.stem in SLOW else [], id=path.stem) for path in INPUTS],
)
def test_results_are_as_written_down(spark: SparkSession, database: Path, source: Path) -> None:
    minors = [known.minor for known in SPARKS]
    first = golden.first_spark(source.read_text())
    if first and minors.index(minor(spark)) < minors.index(first):
        pytest.skip(f"Spark {first} or later has what this file needs")
    found = golden.Runner(spark, database).run(source.read_text())
    results = RESULTS / minor(spark) / f"{source.name}.out"
    if not results.exists():
        results = RESULTS / f"{source.name}.out"
    if os.environ.get("WRITE_GOLDEN"):
        results.parent.mkdir(exist_ok=True)
        results.write_text(found)
    assert found == results.read_text()


def test_every_result_has_its_input() -> None:
    names = {path.name for path in INPUTS}
    assert {path.name.removesuffix(".out") for path in RESULTS.glob("*.out")} == names
    assert {path.name.removesuffix(".out") for path in RESULTS.glob("*/*.out")} <= names


def test_a_changed_file_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    before = golden.snapshot(tmp_path)
    assert golden.snapshot(tmp_path) == before
    (tmp_path / "a").write_text("2")
    assert golden.snapshot(tmp_path) != before


def test_a_statement_ends_with_its_line() -> None:
    parts = list(golden.parse("-- a comment\nSELECT ';'\n  , 1;\n--! mkdir a b\nSELECT 2;\n"))
    assert parts == [
        golden.Statement("SELECT ';'\n  , 1"),
        golden.Command("mkdir", "a b"),
        golden.Statement("SELECT 2"),
    ]


def test_a_statement_without_an_end_is_refused() -> None:
    with pytest.raises(ValueError, match="no semicolon"):
        list(golden.parse("SELECT 1"))
