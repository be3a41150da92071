"""The version and the supported versions of Spark are written in one place each."""

import re
from pathlib import Path

from conftest import REPOSITORY
from spark_versions import NEWEST, SPARKS, VERSION

import spark_zorder

BUILD_FILES = [
    "build.sbt",
    "Makefile",
    "make/*.mk",
    "project/*.properties",
    "project/*.sbt",
    ".ci/*",
    ".github/workflows/*",
]
CODE = [
    "python/pyproject.toml",
    "python/src/**/*.py",
    "python/tests/**/*.py",
    "python/demo/**/*.py",
    "tools/*",
    "tools/release/*",
    "bench/**/*.py",
]
PAGES = ["*.md", "docs/**/*.md"]


def texts(patterns: list[str]) -> dict[Path, str]:
    """The files that the patterns name, by their paths in the repository."""
    found = sorted(path for pattern in patterns for path in REPOSITORY.glob(pattern) if path.is_file())
    return {path.relative_to(REPOSITORY): path.read_text() for path in found}


def lines_with(words: list[str], patterns: list[str]) -> list[str]:
    lines = [(path, line) for path, text in texts(patterns).items() for line in text.splitlines()]
    return [f"{path}: {line}" for path, line in lines if any(word in line for word in words)]


def test_the_package_has_the_version() -> None:
    assert spark_zorder.__version__ == VERSION


def test_nothing_repeats_the_version() -> None:
    assert lines_with([f'"{VERSION}"', f"'{VERSION}'", f"-{VERSION}."], BUILD_FILES + CODE) == []


def test_nothing_repeats_the_releases_of_pyspark_and_scala() -> None:
    releases = sorted({release for spark in SPARKS for release in (spark.pyspark, spark.scala)})
    # As a string or as what pip is asked for. Other projects may have a release of the same number.
    written = [text for release in releases for text in (f'"{release}"', f"'{release}'", f"pyspark=={release}")]
    assert lines_with(written, BUILD_FILES + CODE) == []


def test_nothing_lists_the_supported_versions_of_spark() -> None:
    minors = "|".join(re.escape(spark.minor) for spark in SPARKS)
    several = re.compile(rf"(?:(?:{minors})[\"'`]?[\s,]+[\"'`]?){{2}}(?:{minors})(?![\w.])")
    # The examples of docstrings are run, so what they list is right.
    files = [pattern for pattern in BUILD_FILES + CODE if not pattern.startswith("python/src/")]
    found = {path: text for path, text in texts(files).items() if several.search(text)}
    assert list(found) == []


def test_there_are_shims_for_no_other_spark() -> None:
    folders = [path.name for path in (REPOSITORY / "jvm" / "shims").iterdir() if path.is_dir()]
    named = {minor for folder in folders for minor in re.findall(r"\d+\.\d+", folder)}
    assert named <= {spark.minor for spark in SPARKS}


def test_the_package_takes_these_versions_of_pyspark() -> None:
    major, minor = NEWEST.minor.split(".")
    pyproject = (REPOSITORY / "python/pyproject.toml").read_text()
    assert f'\nspark = ["pyspark>={SPARKS[0].minor},<{major}.{int(minor) + 1}"]\n' in pyproject


def test_a_page_lists_the_supported_versions_and_no_page_lists_others() -> None:
    row = re.compile(r"^\| *(\d+\.\d+) *\| *(\d+\.\d+\.\d+) *\| *`(spark-zorder-[^`]*\.jar)` *\|", re.MULTILINE)
    tables = [rows for text in texts(PAGES).values() if (rows := row.findall(text))]
    assert tables
    for rows in tables:
        assert rows == [(spark.minor, spark.pyspark, spark.jar) for spark in SPARKS]


def test_pages_name_jars_that_there_are() -> None:
    named = {n for text in texts(PAGES).values() for n in re.findall(r"spark-zorder-[\d.]+[-_][\w.-]+\.jar", text)}
    assert named <= {spark.jar for spark in SPARKS}
