"""The package without Spark: its import, its jars, its command line."""

import inspect
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import REPOSITORY
from pyspark.sql import SparkSession
from spark_versions import SPARKS

import spark_zorder
from spark_zorder import artifacts
from spark_zorder._cli.main import main


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with jars for Spark 4.1 and 4.10."""
    for minor in ("4.10", "4.1"):
        (tmp_path / f"spark-zorder-{minor}_2.13-9.9.jar").touch()
    monkeypatch.setattr(artifacts, "_FOLDER", tmp_path)
    return tmp_path


def test_importing_the_package_imports_no_pyspark() -> None:
    code = "import sys, spark_zorder; sys.exit('pyspark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_package_is_typed() -> None:
    assert (Path(spark_zorder.__file__).parent / "py.typed").exists()


@pytest.mark.older_sparks
def test_the_jar_is_that_of_the_installed_spark() -> None:
    minor = ".".join(artifacts.installed_spark().split(".")[:2])
    path = spark_zorder.jar_path()
    assert [path.name] == [spark.jar for spark in SPARKS if spark.minor == minor]
    assert path.exists()


@pytest.mark.test_all
def test_there_is_a_jar_for_each_spark() -> None:
    assert list(artifacts.available_jars().values()) == [spark.jar for spark in SPARKS]


@pytest.mark.parametrize("version", ["4.1", "4.1.0", "4.1.1.dev1"])
def test_a_jar_is_found_by_the_minor_version(jars: Path, version: str) -> None:
    assert spark_zorder.jar_path(version) == jars / "spark-zorder-4.1_2.13-9.9.jar"


@pytest.mark.parametrize("version", ["3.4.9", "4.10.0", "5.0"])
def test_no_unsupported_spark_is_built_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    assert list(artifacts.SUPPORTED) == [spark.minor for spark in SPARKS]
    monkeypatch.setattr(artifacts, "_FOLDER", tmp_path)
    with pytest.raises(spark_zorder.NoJarError) as error:
        spark_zorder.jar_path(version)
    assert f"spark-zorder supports Spark {', '.join(artifacts.SUPPORTED)}" in str(error.value)
    assert "make wheel" not in str(error.value)


@pytest.mark.parametrize(
    ("version", "installed", "words"),
    [
        ("4.0.9", "4.1.0", r"no jar for Spark 4\.0: .* for Spark 4\.1, 4\.10\. "),
        (None, "5.0.1", r"no jar for Spark 5\.0 \(pyspark 5\.0\.1 is installed\)"),
        (None, None, "pyspark is not installed"),
    ],
)
@pytest.mark.usefixtures("jars")
def test_a_missing_jar_says_why(
    monkeypatch: pytest.MonkeyPatch, version: str | None, installed: str | None, words: str
) -> None:
    module = SimpleNamespace(__version__=installed) if installed else None
    monkeypatch.setitem(sys.modules, "pyspark.version", module)
    with pytest.raises(spark_zorder.NoJarError, match=words):
        spark_zorder.jar_path(version)
    assert spark_zorder.jar_path("4.1").exists()


def test_a_session_without_a_jar_says_which_package_to_build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spark-zorder-4.10_2.13-9.9.jar").touch()
    monkeypatch.setattr(artifacts, "_FOLDER", tmp_path)
    monkeypatch.setattr("pyspark.version.__version__", "4.1.2")
    words = r"no jar for Spark 4\.1 \(pyspark 4\.1\.2 is installed\): this spark_zorder has a jar for Spark 4\.10\. "
    with pytest.raises(spark_zorder.NoJarError, match=words + r".*`make wheel SPARK=4\.1` in a clone builds"):
        spark_zorder.configure_spark(SparkSession.builder)


def test_a_package_without_jars_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(artifacts, "_FOLDER", tmp_path)
    with pytest.raises(spark_zorder.NoJarError, match="built without any jar"):
        spark_zorder.jar_path("4.3")


def test_the_command_line_prints_the_path(jars: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jar", "--spark", "4.10"]) == 0
    assert capsys.readouterr().out == f"{jars / 'spark-zorder-4.10_2.13-9.9.jar'}\n"


def test_the_command_line_fails_in_words(jars: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["jar", "--spark", "3.4"]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("no jar for Spark 3.4")


@pytest.mark.older_sparks
def test_the_module_and_the_command_are_the_same() -> None:
    module, command = [sys.executable, "-m", "spark_zorder"], [str(Path(sys.executable).with_name("spark-zorder"))]
    helps = []
    for start in (module, command):
        done = subprocess.run([*start, "jar"], capture_output=True, text=True, check=True)
        assert Path(done.stdout.strip()) == spark_zorder.jar_path()
        assert subprocess.run([*start, "recover"], capture_output=True, check=False).returncode == 2
        asked = subprocess.run([*start, "--help"], capture_output=True, text=True, check=True)
        helps.append(" ".join(asked.stdout.replace(" ".join(["python", *start[1:]]), "spark-zorder").split()))
    assert helps[0] == helps[1]
    assert helps[0].startswith("usage: spark-zorder [-h] [--version] command")


def test_every_statement_with_a_page_has_a_method_or_a_function() -> None:
    rows = re.findall(
        r"^\| \[([A-Z ]+)\]\((statements/[a-z-]+\.md)(?:#([a-z-]+))?\) \| (.*?) \| (.*?) \|$",
        (REPOSITORY / "docs" / "python-api.md").read_text(),
        re.MULTILINE,
    )
    headings = {
        heading
        for path in (REPOSITORY / "docs" / "statements").glob("*.md")
        for heading in re.findall(r"^#+ ([A-Z]+(?: [A-Z]+)*)$", path.read_text(), re.MULTILINE)
    }
    assert sorted(statement for statement, *_ in rows) == sorted(headings)
    for statement, page, anchor, python, returned in rows:
        assert (anchor or Path(page).stem).upper().replace("-", " ") == statement
        assert f"# {statement}\n" in (REPOSITORY / "docs" / page).read_text()
        for name in re.findall(r"`([\w.]+)`", python):
            owner = spark_zorder.ZOrderTable if "ZOrderTable" in python else spark_zorder
            method = getattr(owner, name.removeprefix("ZOrderTable."))
            assert inspect.signature(method).return_annotation == returned.strip("`"), name


def test_the_command_line_is_not_public() -> None:
    folder = Path(spark_zorder.__file__).parent
    modules = {path.stem for path in folder.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    assert {"_cli", "_plot"} <= modules
    assert not [name for name in modules if name.startswith(("nightly", "tool", "plot", "picture"))]
