"""Runs the examples in the package's docstrings. Every public name has one, and each prints what it shows."""

from pathlib import Path
from typing import Any

import pytest
from docstrings import PUBLIC, own_methods, prepared, run_example, run_examples, without_example
from pyspark.sql import SparkSession


@pytest.fixture
def names(
    spark_session: SparkSession, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The names that the package's docstring defines: a session, rows, and a new copy of their table."""
    monkeypatch.chdir(tmp_path)
    spark_session.sql(f"USE {database.name}")
    found = prepared()
    # Tests before this one have made sessions of their own, and the last one is the active one.
    monkeypatch.setattr(SparkSession, "getActiveSession", lambda: found["spark"])
    return found


@pytest.mark.parametrize("name", PUBLIC)
@pytest.mark.usefixtures("all_jars")
def test_an_example_prints_what_it_shows(names: dict[str, Any], name: str) -> None:
    run_example(name, names)


def test_every_public_name_has_an_example() -> None:
    assert {"ZOrderTable", "ZOrderTable.optimize", "ZOrderTable.for_path", "Clustering.depth"} <= PUBLIC.keys()
    assert without_example(PUBLIC) == []


def test_a_missing_example_is_found() -> None:
    class Public:
        def documented(self) -> None:
            """Do it.

            Examples:
                >>> Public().documented()
            """

        def described(self) -> None:
            """Do it, for example `described()`."""

        @property
        def bare(self) -> int:
            return 1

    assert without_example(dict(own_methods(Public))) == ["Public.described", "Public.bare"]


def test_an_example_that_shows_something_else_is_found() -> None:
    with pytest.raises(AssertionError, match=r"Expected:\s+3\s+Got:\s+2"):
        run_examples("wrong", ">>> 1 + 1\n3\n", {})
