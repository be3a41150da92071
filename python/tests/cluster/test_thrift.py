"""Spark's Thrift server, asked by beeline and by a JDBC client."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import SUPPORT
from processes import java, printed, ran
from servers import BIN, HOME, WITH_US, thrift_server

pytestmark = pytest.mark.test_all

OPTIMIZE = "OPTIMIZE {table} ZORDER BY (a) OPTIONS ('num-files' = '8')"
EXPLAIN = "EXPLAIN SKIPPING SELECT * FROM {table} WHERE a = 17"
COUNT = "SELECT count(*) AS n FROM {table} WHERE a = 17"
WRONG = "OPTIMIZE {table} ZORDER BY (nobody)"
ERROR = "[ZORDER_COLUMN_NOT_FOUND] There is no column `nobody` in the table. There are `id`, `a`."


def statements(table: str) -> list[str]:
    write = (
        "CREATE TABLE {table} USING parquet AS SELECT /*+ REPARTITION(8) */ id, pmod(hash(id), 1000) AS a "
        "FROM range(4000)"
    )
    return [each.format(table=table) for each in (write, OPTIMIZE, EXPLAIN, COUNT, WRONG)]


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with thrift_server(tmp_path_factory.mktemp("thrift"), WITH_US) as port:
        yield f"jdbc:hive2://127.0.0.1:{port}"


def test_beeline(url: str, tmp_path: Path) -> None:
    script = tmp_path / "script.sql"
    script.write_text("".join(f"{statement};\n" for statement in statements("of_beeline")))
    done = ran([BIN / "beeline", "-u", url, "--silent=true", "--outputformat=tsv2", "-f", script], tmp_path)
    lines = done.stdout.replace("\nnull", "\n").splitlines()
    after = {head: lines[at + 1].split("\t") for at, head in enumerate(lines[:-1])}
    path, metrics, summary = after["path\tmetrics\tsummary"]
    assert path.endswith("/of_beeline")
    assert (json.loads(metrics)["numFilesRemoved"], json.loads(metrics)["numFilesAdded"]) == (8, 8)
    assert "A lookup on `a` reads 1 of 8 files, before: 8 of 8" in summary
    [scan] = [values for head, values in after.items() if head.startswith("scan\trelation\t")]
    assert scan[:4] == ["0", "spark_catalog.default.of_beeline", "8", "1"]
    assert after["n"] == ["7"]
    # The script ends at the error.
    assert (done.returncode, ERROR in done.stderr, "state=42703" in done.stderr) == (2, True, True)


def test_a_jdbc_client(url: str, tmp_path: Path) -> None:
    command = [java(), "-cp", f"{HOME}/jars/*", SUPPORT / "JdbcClient.java", url, *statements("of_jdbc")]
    [path, metrics, summary, *scan, count, error] = printed(command, tmp_path).splitlines()
    assert path.startswith("path string file:")
    assert metrics.startswith("metrics struct ")
    found = json.loads(metrics.removeprefix("metrics struct "))
    assert (found["numFilesRemoved"], found["numFilesAdded"], found["version"]) == (8, 8, 1)
    assert summary.startswith("summary string 8 → 8 files, ")
    assert {"files_total bigint 8", "files_kept bigint 1"} <= set(scan)
    assert count == "n bigint 7"
    assert error.startswith("error 42703 ")
    assert ERROR in error
