"""Runs the examples in the package's docstrings."""

import doctest
import inspect
import re
from collections.abc import Iterator
from typing import Any

import spark_zorder

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


def prepared() -> dict[str, Any]:
    """The names that the package's docstring defines: a session, rows, and a new copy of their table."""
    found = dict(vars(spark_zorder))
    run_examples("spark_zorder", spark_zorder.__doc__ or "", found)
    return found


def run_example(public: str, names: dict[str, Any]) -> None:
    run_examples(public, inspect.getdoc(PUBLIC[public]) or "", names)
