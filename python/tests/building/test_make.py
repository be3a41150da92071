"""The targets of `make`, the bugs that `make mutants` plants, and the Spark that `make wheel` builds for."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY
from spark_versions import NEWEST, SPARKS

FRONT = {"help", "demo", "test", "test-rest", "check", "docs", "wheel", "wheel-all", "release", "clean"}


def targets() -> set[str]:
    """All that `make` knows how to make."""
    command = ["make", "-C", str(REPOSITORY), "--question", "--print-data-base", "help"]
    printed = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return set(re.findall(r"^([a-z][\w./-]*):(?!=)", printed, re.MULTILINE))


def chosen(*named: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """What `tools/wheel-spark` says, with a Python that has no pyspark unless the environment says where it is."""
    command = ["sh", str(REPOSITORY / "tools" / "wheel-spark"), sys._base_executable, *named]  # type: ignore[attr-defined]
    path = {"PATH": os.defpath, **environment}
    return subprocess.run(command, env=path, capture_output=True, text=True, check=False)


def test_help_names_what_people_use() -> None:
    printed = subprocess.run(["make", "-C", str(REPOSITORY), "help"], capture_output=True, text=True, check=True).stdout
    assert set(re.findall(r"^make ([a-z-]+)", printed, re.MULTILINE)) | {"help"} == FRONT


def test_make_knows_each_target_that_a_page_names() -> None:
    pages = [REPOSITORY / name for name in ("README.md", "CONTRIBUTING.md")] + sorted(REPOSITORY.glob("docs/**/*.md"))
    # In prose between backticks, in a block as a line of its own, with variables or a remark behind it.
    command = re.compile(r"`make ([a-z][a-z-]*)|^make ([a-z][a-z-]*)(?= *$| +[#A-Z])", re.MULTILINE)
    named = {found[1] or found[2] for page in pages for found in command.finditer(page.read_text())}
    assert {"demo", "wheel", "test-jvm", "bench-layout"} <= named
    assert named - targets() == set()


def test_each_planted_bug_has_its_place_in_the_sources() -> None:
    """`make mutants` takes half an hour. This only checks that the sources still have the text of each bug."""
    command = [sys.executable, str(REPOSITORY / "tools" / "mutants.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    [bugs] = re.findall(r"^(\d+) bugs can be planted$", done.stdout)
    assert int(bugs) >= 24


def test_the_named_spark_is_taken_by_its_minor_version() -> None:
    assert [chosen(spark.pyspark).stdout for spark in SPARKS] == [f"{spark.minor}\n" for spark in SPARKS]


def test_a_spark_that_is_not_supported_is_refused_with_the_supported_ones() -> None:
    done = chosen("2.4")
    assert (done.returncode, done.stdout) == (1, "")
    assert f"supports Spark {' '.join(spark.minor for spark in SPARKS)}" in done.stderr


def test_without_a_spark_it_is_the_newest() -> None:
    assert chosen().stdout == f"{NEWEST.minor}\n"


def test_an_installed_pyspark_comes_first(tmp_path: Path) -> None:
    metadata = tmp_path / "site" / f"pyspark-{SPARKS[0].pyspark}.dist-info" / "METADATA"
    metadata.parent.mkdir(parents=True)
    metadata.write_text(f"Metadata-Version: 2.1\nName: pyspark\nVersion: {SPARKS[0].pyspark}\n")
    home = spark_home(tmp_path, SPARKS[1].pyspark)
    done = chosen(PYTHONPATH=str(metadata.parents[1]), SPARK_HOME=str(home))
    assert done.stdout == f"{SPARKS[0].minor}\n"
    assert f"Spark {SPARKS[0].pyspark} is installed" in done.stderr


@pytest.mark.parametrize("way", ["home", "path"])
def test_a_spark_without_python_is_found(tmp_path: Path, way: str) -> None:
    home = spark_home(tmp_path, SPARKS[1].pyspark)
    environment = {"SPARK_HOME": str(home)} if way == "home" else {"PATH": f"{home}/bin:{os.defpath}"}
    assert chosen(**environment).stdout == f"{SPARKS[1].minor}\n"


def test_an_installed_spark_that_is_not_supported_is_refused(tmp_path: Path) -> None:
    done = chosen(SPARK_HOME=str(spark_home(tmp_path, "2.4.8")))
    assert done.returncode == 1
    assert done.stderr.startswith("Spark 2.4.8 is installed")


def spark_home(folder: Path, release: str) -> Path:
    """A folder that looks like Spark's."""
    home = folder / "spark"
    (home / "jars").mkdir(parents=True)
    (home / "jars" / f"spark-core_2.13-{release}.jar").touch()
    (home / "bin").mkdir()
    submit = home / "bin" / "spark-submit"
    submit.touch(mode=0o755)
    return home
