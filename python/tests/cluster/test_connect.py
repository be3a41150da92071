"""Spark Connect: a server of the pip package, and a client in an environment that has no JVM and no py4j."""

import contextlib
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY, SUPPORT
from docstrings import PUBLIC
from processes import environment, printed, ran
from servers import WITH_US, connect_server

from spark_zorder import EXTENSION

pytestmark = pytest.mark.test_all

PYTHON = REPOSITORY / "build" / "envs" / "connect" / "bin" / "python"
"""The client's. `make build/stamps/installed-connect` makes it."""


def asked(url: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(printed([PYTHON, SUPPORT / "connect_client.py", url]).splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What the client found at a server with the extension."""
    with connect_server(tmp_path_factory.mktemp("connect"), WITH_US) as url:
        return asked(url)


@pytest.mark.parametrize(
    ("what", "expected"),
    [
        ("py4j", False),
        ("builder", {}),
        ("session", "pyspark.sql.connect.session"),
        ("dry run", [True, 16, "Nothing was changed."]),
        ("result", [True, 8, 16, 1]),
        ("explained text", [[16, 4], [16, 4]]),
        ("explained frame", [[16, 4], [16, 4]]),
        # To a time of the history, in any zone.
        ("restored", [8, 16]),
        ("plain", [True, False]),
        ("picture", [b"\x89PNG".hex(), True]),
        ("hint", 3),
        ("function", "C" + "0" * 31),
    ],
)
def test_a_client_without_py4j_has_all(found: dict[str, Any], what: str, expected: object) -> None:
    assert found[what] == expected


def test_the_doctor_finds_the_server_well(found: dict[str, Any]) -> None:
    assert [(check, detail) for check, (ok, detail) in found["doctor"].items() if not ok] == []
    assert len(found["doctor"]) == 7


def test_every_example_of_the_package_prints_what_it_shows(found: dict[str, Any]) -> None:
    assert set(PUBLIC) - set(found["examples"]) == {"NoJarError", "jar_path"}
    assert [report for report in found["examples"].values() if report] == []


def test_a_result_reads_as_sentences(found: dict[str, Any]) -> None:
    assert found["html"].startswith("<p>8 → 16 files, ")
    assert "<td>user</td><td>8.0</td><td>4.0</td><td>4.0</td>" in found["html"]


def test_errors_have_their_conditions(found: dict[str, Any]) -> None:
    conditions = {name: condition for name, (_, condition, _) in found["errors"].items()}
    assert conditions == {
        "column": "ZORDER_COLUMN_NOT_FOUND",
        "option": "ZORDER_INVALID_OPTION.UNKNOWN",
        "table": "ZORDER_TABLE_NOT_FOUND",
        "version": "ZORDER_VERSION_NOT_FOUND.NUMBER",
        "hint": "ZORDER_INVALID_HINT.PARTITIONS",
        "query": "UNRESOLVED_COLUMN.WITH_SUGGESTION",
    }
    assert {kind for kind, _, _ in found["errors"].values()} == {"AnalysisException"}
    assert "There is no column `nobody` in the table. There are `id`, `user`, `day`." in found["errors"]["column"][2]


def test_a_terminal_of_the_client_has_a_bar(tmp_path: Path) -> None:
    reading, writing = os.openpty()
    with connect_server(tmp_path, WITH_US) as url:
        command = [str(PYTHON), str(SUPPORT / "connect_bar.py"), url]
        client = subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=writing, text=True)
        os.close(writing)
        drawn = b""
        # A terminal that nobody writes to any more ends with an error.
        with contextlib.suppress(OSError):
            while part := os.read(reading, 4096):
                drawn += part
        out, _ = client.communicate(timeout=60)
    os.close(reading)
    assert (client.returncode, out) == (0, "8\n"), drawn
    bars = [bar.strip() for bar in drawn.decode().split("\r") if bar.startswith("OPTIMIZE slow [")]
    assert any(re.search(r"> +\] \d+ % writing, \d/8 files, .* of .*", bar) for bar in bars), bars
    assert drawn.decode().split("\r")[-1].strip() == ""


def test_a_server_without_the_extension_is_named_by_every_error(tmp_path: Path) -> None:
    with connect_server(tmp_path, {}) as url:
        found = asked(url)
        done = ran([PYTHON, "-m", "spark_zorder", "status", "--schema", "default", "--remote", url])
    assert found["doctor"]["extension"][0] is False
    assert {name: kind for name, (kind, _, _) in found["errors"].items() if kind != "NoExtensionError"} == {}
    for _, _, message in found["errors"].values():
        assert message.startswith(f"the Spark Connect server was started without the extension {EXTENSION}: ")
    assert (done.returncode, "without the extension" in done.stderr) == (1, True)
