"""Runs the examples in the package's docstrings. Every public name has one, and each prints what it shows."""

from __future__ import annotations

import doctest
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.errors import AnalysisException

import spark_zorder
from spark_zorder import ZOrderTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def own_methods(public: type) -> Iterator[tuple[str, object]]:
    """The public methods and properties of a class that are not inherited."""
    for name, member in vars(public).items():
        method = member.__func__ if isinstance(member, classmethod) else member
        if not name.startswith("_") and (inspect.isfunction(method) or isinstance(method, property)):
            yield f"{public.__name__}.{name}", method


def public_names() -> dict[str, object]:
    """All that a user can call, by name: functions, classes, and their methods and properties."""
    named = {name: getattr(spark_zorder, name) for name in spark_zorder.__all__}
    callables = {name: value for name, value in named.items() if callable(value)}
    methods = (pair for value in callables.values() if inspect.isclass(value) for pair in own_methods(value))
    return callables | dict(methods)


PUBLIC = public_names()


def without_example(names: dict[str, object]) -> list[str]:
    """Those whose docstring has no section of examples with a prompt in it."""
    return [name for name, value in names.items() if not re.search(r"Examples:\n\s+>>> ", inspect.getdoc(value) or "")]


def run_examples(name: str, docstring: str, names: dict[str, Any]) -> None:
    """Run a docstring's examples. They see these names and add their own to them."""
    report: list[str] = []
    test = doctest.DocTestParser().get_doctest(docstring, names, name, None, None)
    assert test.examples
    failed = doctest.DocTestRunner(optionflags=FLAGS).run(test, out=report.append, clear_globs=False)
    names.update(test.globs)
    assert failed.failed == 0, "".join(report)


@pytest.fixture
def names(
    spark_session: SparkSession, database: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> dict[str, Any]:
    """The names that the package's docstring defines: a session, rows, and a new copy of their table."""
    monkeypatch.chdir(tmp_path)
    spark_session.sql(f"USE {database.name}")
    found = dict(vars(spark_zorder))
    run_examples("spark_zorder", spark_zorder.__doc__ or "", found)
    return found


@pytest.mark.parametrize("name", PUBLIC)
def test_an_example_prints_what_it_shows(names: dict[str, Any], name: str) -> None:
    run_examples(name, inspect.getdoc(PUBLIC[name]) or "", names)


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


def test_the_docstring_of_optimize_lists_every_option(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1).write.parquet(str(tmp_path / "t"))
    with pytest.raises(AnalysisException) as unknown:
        ZOrderTable.for_path(spark, tmp_path / "t").optimize(options={"no-such-option": 1})
    offered = re.findall(
        r"[a-z]+(?:[-.][a-z]+)+|cuts|mapping|compression", str(unknown.value).split("no-such-option")[-1]
    )
    listed = re.findall(r"^ *- `(\S+)`:", ZOrderTable.optimize.__doc__ or "", re.MULTILINE)
    assert sorted(listed) == sorted(set(offered))
