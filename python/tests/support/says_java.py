"""A plugin for pytest: says at the end which Java its sessions ran on."""

import pytest


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    from pyspark import SparkContext

    jvm = SparkContext._jvm
    version = jvm.java.lang.System.getProperty("java.version") if jvm else "none"
    terminalreporter.write_line(f"ran on Java {version}")
