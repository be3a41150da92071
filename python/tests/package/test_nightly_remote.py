"""The nightly tool with `--remote` and a real Spark Connect server, with the extension and without it."""

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from processes import ran
from servers import WITH_US, connect_server

pytestmark = pytest.mark.test_all

MAKE = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
spark.sql("CREATE DATABASE nights")
for name, format in (("flights", "parquet"), ("seats", "orc")):
    spark.range(2000).repartition(6).write.format(format).saveAsTable(f"nights.{name}")
spark.sql("CREATE VIEW nights.late AS SELECT * FROM nights.flights")
"""

COUNT = """
import sys
from pyspark.sql import SparkSession
spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
print([spark.table(f"nights.{name}").selectExpr("count(*)", "sum(id)").first()[:] for name in ("flights", "seats")])
"""


def python(*arguments: str) -> tuple[int, str, str]:
    """The exit code of Python and what it printed. A JVM that it starts by mistake has no Java."""
    done = ran([sys.executable, *arguments], JAVA_HOME="/nowhere")
    return done.returncode, done.stdout, done.stderr


def tool(*arguments: str) -> tuple[int, str, str]:
    return python("-m", "spark_zorder", *arguments)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A server with the extension and two tables that need an OPTIMIZE."""
    with connect_server(tmp_path_factory.mktemp("with"), WITH_US) as url:
        code, _, err = python("-c", MAKE, url)
        assert code == 0, err
        yield url


def test_a_night_over_connect(server: str) -> None:
    here = ("--schema", "nights", "--remote", server)
    code, out, err = tool("status", *here, "--json")
    assert code == 0, err
    states = {row["table"]: (row["state"], row["files"], row["small_files"]) for row in json.loads(out)}
    assert states == {
        "nights.flights": ("ok", 6, 6),
        "nights.seats": ("ok", 6, 6),
        "nights.late": ("not ours: it is a view", None, None),
    }
    code, out, err = tool("optimize", *here, "--dry-run")
    foreseen = sorted(line.split(". ")[0][6:] for line in out.splitlines())
    assert (code, foreseen) == (0, ["nights.flights: foreseen", "nights.seats: foreseen"]), err
    code, out, err = tool("optimize", *here, "--budget", "2h", "--json")
    assert code == 0, err
    assert [outcome["outcome"] for outcome in json.loads(out)["tables"]] == ["optimized"] * 2
    assert len(err.splitlines()) == 2, err
    assert tool("optimize", *here) == (0, "Nothing to do.\n", "")
    code, out, err = tool("history", "nights.seats", "--remote", server, "--json")
    assert (code, [entry["operation"] for entry in json.loads(out)]) == (0, ["OPTIMIZE"]), err
    code, out, err = tool("vacuum", *here, "--retain-hours", "0")
    assert (code, out.count("vacuumed.")) == (0, 2), err
    code, out, _ = python("-c", COUNT, server)
    assert out.strip() == str([(2000, sum(range(2000)))] * 2)


def test_a_server_without_the_extension_is_told_and_exits_with_1(tmp_path: Path) -> None:
    with connect_server(tmp_path / "without", {}) as url:
        code, _, err = python("-c", MAKE, url)
        assert code == 0, err
        for command in ("status", "optimize", "vacuum"):
            code, out, err = tool(command, "--schema", "nights", "--remote", url)
            assert (code, out) == (1, ""), err
            assert "without the extension" in err
            assert "spark.sql.extensions=org.sparkzorder.ZOrderSparkExtension" in err
            assert len(err.splitlines()) == 1
        code, out, err = tool("optimize", "--schema", "nights", "--remote", url, "--json")
        assert (code, json.loads(out)["error"]) == (1, "CANNOT_RUN"), err


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("sc://127.0.0.1:1/;token=secret", "there is no Spark Connect server at sc://127.0.0.1:1: "),
        ("sc://no-such-host.invalid", "there is no Spark Connect server at sc://no-such-host.invalid: "),
        ("127.0.0.1:15002", "sc://"),
    ],
)
def test_no_server_is_told_at_once(url: str, words: str) -> None:
    begun = time.monotonic()
    code, out, err = tool("status", "--schema", "nights", "--remote", url)
    assert (code, out) == (1, ""), err
    assert words in err
    assert "secret" not in err
    assert len(err.splitlines()) == 1
    assert time.monotonic() - begun < 60
