"""What `doctor` says of sessions that are well, and of sessions that are not."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest
from comparison import settings
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import SparkSession

from spark_zorder import Diagnosis, Finding, __version__, doctor, jar_path
from spark_zorder.session import EXTENSION

DELTA = "io.delta.sql.DeltaSparkSessionExtension"
START = """
import json, sys
from pyspark.sql import SparkSession
from spark_zorder import doctor

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
if len(sys.argv) > 2:
    builder.getOrCreate()
for key, value in json.loads(sys.argv[1]).items():
    builder = builder.config(key, value)
spark = builder.getOrCreate()
found = doctor(spark)
print(json.dumps([found.ok, [[f.check, f.ok, f.detail, f.remedy] for f in found.findings]]))
"""


def of_session(*, late: bool = False, **settings: str) -> tuple[bool, dict[str, Finding]]:
    """The findings of a session with settings, whose keys have `__` for a dot. `late` are made in a running session."""
    given = json.dumps({key.replace("__", "."): value for key, value in settings.items()})
    done = subprocess.run(
        [sys.executable, "-c", START, given, *["late"] * late], capture_output=True, text=True, check=True, timeout=120
    )
    ok, findings = json.loads(done.stdout.strip().splitlines()[-1])
    return ok, {f[0]: Finding(*f) for f in findings}


@pytest.mark.older_sparks
def test_a_session_that_is_well(spark: SparkSession) -> None:
    found = doctor(spark)
    assert found.ok, repr(found)
    assert [f.ok for f in found.findings if f.check != "jar"] == [True] * 6
    lines = repr(found).splitlines()
    assert len(lines) == len(found.findings) == 7
    assert all(line.startswith(("ok     ", "?      ")) for line in lines)


@pytest.mark.older_sparks
def test_a_setting_that_turns_skipping_off(spark: SparkSession) -> None:
    for key, value, check in (
        ("spark.zorder.skipping.enabled", "false", "skipping"),
        ("spark.sql.sources.useV1SourceList", "csv,orc", "readers"),
    ):
        with settings(spark, **{key: value}):
            found = doctor(spark)
        assert not found.ok
        assert [f.check for f in found.findings if f.ok is False] == [check]
        assert f"WRONG  {check}: " in repr(found)


@pytest.mark.test_rest
def test_a_session_without_the_extension_and_one_without_the_jar() -> None:
    ok, found = of_session()
    assert not ok
    assert found["jar"].ok is None
    assert found["extension"].ok is False
    assert f"spark.sql.extensions={EXTENSION}" in found["extension"].remedy
    # Spark goes on without an extension whose class it does not find.
    ok, found = of_session(spark__sql__extensions=EXTENSION)
    assert not ok
    assert "add the jar" in found["extension"].remedy


@pytest.mark.test_rest
def test_a_jar_that_came_after_the_start_of_the_session_is_not_loaded() -> None:
    ok, found = of_session(late=True, spark__jars=str(jar_path()), spark__sql__extensions=EXTENSION)
    assert not ok
    assert found["jar"].ok is None
    assert "but this session runs without the extension" in found["jar"].detail
    assert found["extension"].ok is False


@pytest.mark.test_all
def test_two_extensions_and_a_jar_of_this_version() -> None:
    ok, found = of_session(spark__jars=str(jar_path()), spark__sql__extensions=f"no.such.Extension,{EXTENSION}")
    assert ok
    assert found["extension"].detail == "it works."
    assert found["jar"].ok


class Answers:
    """A session with these settings, whose statements work or fail."""

    def __init__(self, version: str = "4.1.2", works: bool = True, **settings: str) -> None:
        self.version = version
        self.works = works
        self.settings = {key.replace("__", "."): value for key, value in settings.items()}
        self.conf = self

    def get(self, key: str) -> str:
        if key not in self.settings and key != "spark.sql.sources.useV1SourceList":
            raise PySparkException("[SQL_CONF_NOT_FOUND] no")
        return self.settings.get(key, "parquet,orc")

    def sql(self, statement: str) -> Answers:
        if not self.works:
            raise AnalysisException("[PARSE_SYNTAX_ERROR] no")
        return self

    def collect(self) -> list[Any]:
        return []


def finding(check: str, **answers: Any) -> Finding:
    found: Diagnosis = doctor(Answers(**answers))  # type: ignore[arg-type]
    return next(f for f in found.findings if f.check == check)


def jar(minor: str, version: str, before: str = "/x/") -> str:
    return f"{before}spark-zorder-{minor}_2.13-{version}.jar"


@pytest.mark.parametrize(
    ("jars", "ok", "words"),
    [
        ("", None, "names none"),
        (jar("4.1", __version__), True, f"version {__version__} for Spark 4.1"),
        (
            jar("4.1", __version__, "file:/ivy/org.sparkzorder_") + ",/y.jar",
            True,
            f"version {__version__} for Spark 4.1",
        ),
        (jar("4.0", __version__), False, "it is for Spark 4.0, and this is 4.1.2"),
        (jar("4.1", "0.0.9"), False, "of version 0.0.9"),
        (jar("4.1", __version__) + "," + jar("4.0", __version__), False, "there are several"),
    ],
)
def test_jars(jars: str, ok: bool | None, words: str) -> None:
    found = finding("jar", spark__jars=jars)
    assert (found.ok, words in found.detail) == (ok, True), found


def test_the_extension_is_named_last() -> None:
    assert finding("extension", spark__sql__extensions=f"{DELTA},{EXTENSION}").ok
    found = finding("extension", spark__sql__extensions=f"{EXTENSION},org.A, {DELTA}")
    assert found.ok is False
    assert found.detail.startswith(f"{DELTA} is named after it")
    assert found.remedy == f"Name {EXTENSION} last in spark.sql.extensions."


@pytest.mark.parametrize(("version", "ok"), [("4.0.3", True), ("4.3.0.dev1", True), ("3.4.1", False), ("5.0.0", False)])
@pytest.mark.usefixtures("all_jars")
def test_versions_of_spark(version: str, ok: bool) -> None:
    assert finding("Spark", version=version).ok is ok


@pytest.mark.parametrize(
    ("folder", "ok"),
    [("/w", True), ("file:/w", True), ("hdfs://n/w", True), ("s3a://b/w", None), ("abfss://c@a/w", None)],
)
def test_file_systems(folder: str, ok: bool | None) -> None:
    assert finding("file system", spark__sql__warehouse__dir=folder).ok is ok


def test_a_catalog_of_another_format_is_named() -> None:
    found = finding("catalog", spark__sql__catalog__spark_catalog="org.apache.spark.sql.delta.catalog.DeltaCatalog")
    assert found.ok
    assert "DeltaCatalog" in found.detail


def test_a_check_that_fails_says_so() -> None:
    class Refuses(Answers):
        def get(self, key: str) -> str:
            raise AnalysisException("no settings here")

    found = doctor(Refuses())  # type: ignore[arg-type]
    assert all(f.ok is not False for f in found.findings if f.check != "Spark")
    assert any("cannot be looked at" in f.detail for f in found.findings)
