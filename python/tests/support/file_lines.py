"""A line for each test file when it ends, in place of a dot for each test. `make test` sums them up.

A golden file and a page count as a test file. The start of the session that all tests share counts for none.
"""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from typing import Any

import pytest


class FileLines:
    """Prints a line when all tests of a file have ended, wherever they ran."""

    def __init__(self, config: pytest.Config) -> None:
        self._plugins = config.pluginmanager
        self._left: Counter[str] = Counter()
        self._seconds: defaultdict[str, float] = defaultdict(float)
        self._outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Count the tests of each file, if they run in this process."""
        self._expect([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: object, ids: list[str]) -> None:
        """Count the tests of each file. Every process has found the same."""
        self._expect(ids)

    def _expect(self, ids: list[str]) -> None:
        self._left = self._left or Counter(map(_file, ids))

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """No letter for a test that passed or was left out."""
        if report.failed or (report.passed and report.when != "call"):
            return None
        return report.outcome, "", ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the end of one phase of a test."""
        file = _file(report.nodeid)
        self._seconds[file] += report.duration
        if report.when == "call" or not report.passed:
            self._outcomes[file][report.outcome] += 1
        if report.when == "teardown":
            self._left[file] -= 1
            if self._left[file] == 0:
                found = self._outcomes[file]
                more = "".join(f", {found[kind]} {kind}" for kind in ("failed", "skipped") if found[kind])
                terminal: Any = self._plugins.get_plugin("terminalreporter")
                terminal.write_line(f"{self._seconds[file]:6.1f} s  {file}, {found['passed']} passed{more}")


def _file(nodeid: str) -> str:
    golden = re.search(r"test_golden\.py::.*\[(\w+)\]$", nodeid)
    page = re.search(r"test_docs\.py::.*\[(.+\.md)\]$", nodeid)
    return f"sql-tests/inputs/{golden[1]}.sql" if golden else page[1] if page else "python/" + nodeid.split("::")[0]


_starts: list[float] = []


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: pytest.FixtureDef[Any]) -> Generator[None, Any, Any]:
    """Time the start of the session."""
    began = time.monotonic()
    try:
        return (yield)
    finally:
        if fixturedef.argname == "spark_session":
            _starts.append(time.monotonic() - began)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Leave the start of the session out of the time of the test that happened to be first."""
    report = yield
    while _starts and report.when == "setup":
        report.duration -= _starts.pop()
    return report


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that shows results prints lines."""
    if not hasattr(config, "workerinput") and not config.option.collectonly:
        config.pluginmanager.register(FileLines(config), "file-lines")
