"""The tools of `make release`: the section of the changelog, and the checks of Maven Central."""

import hashlib
import sys
from datetime import date
from pathlib import Path

import pytest
from conftest import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "tools" / "release"))
import begin
import check
import maven

CHANGELOG = "# Changelog\n\nWords.\n\n## Unreleased\n\n- new\n\n## 7.2.0 - 2026-01-02\n\n- two\n\n## 7.1.0\n\n- one\n"
POM = """<project xmlns="http://maven.apache.org/POM/4.0.0">
  <name>n</name><description>d</description><url>u</url>
  <licenses><license><name>l</name></license></licenses>
  <developers><developer><name>p</name></developer></developers>
</project>"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A Maven repository with all files of one jar."""
    for ending in maven.ENDINGS:
        file = maven.file_of(tmp_path, "spark-zorder-9.9_2.13", "1.0", ending)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(POM if ending == ".pom" else ending)
        for kind in ("md5", "sha1"):
            Path(f"{file}.{kind}").write_text(hashlib.new(kind, file.read_bytes()).hexdigest())
    return tmp_path


@pytest.mark.parametrize(("version", "text"), [("7.1.0", "- one"), ("7.2.0", "- two"), ("7.3.0", "- new")])
def test_the_changes_are_those_of_the_version_or_the_unreleased_ones(version: str, text: str) -> None:
    assert begin.section(CHANGELOG, version) == text


def test_an_empty_section_is_none() -> None:
    assert begin.section("# Changelog\n\n## Unreleased\n\n## 7.1.0\n\n- one\n", "7.2.0") is None


def test_the_changelog_of_this_version_has_entries() -> None:
    text = (REPOSITORY / "CHANGELOG.md").read_text()
    assert begin.section(text, (REPOSITORY / "VERSION").read_text().strip())


def test_the_section_is_signed_off() -> None:
    lines = begin.signed("- one", "1.0", date(2026, 1, 2), "abc", "A Person <a@example.org>").splitlines()
    assert lines[0] == "## 1.0 - 2026-01-02"
    assert lines[-3:] == ["Built from commit abc.", "", "Signed-off-by: A Person <a@example.org>"]


def test_a_whole_artifact_lacks_nothing(repository: Path) -> None:
    [artifact] = maven.artifacts(repository)
    assert maven.wrong_files(repository, artifact, "1.0") == []
    assert maven.missing_elements(maven.file_of(repository, artifact, "1.0", ".pom"), maven.ELEMENTS) == []


def test_what_an_artifact_lacks_is_named(repository: Path) -> None:
    [artifact] = maven.artifacts(repository)
    maven.file_of(repository, artifact, "1.0", "-javadoc.jar").unlink()
    maven.file_of(repository, artifact, "1.0", ".jar").write_text("changed")
    maven.file_of(repository, artifact, "1.0", "-tests-javadoc.jar").touch()
    assert maven.wrong_files(repository, artifact, "1.0") == [
        f"{artifact}-1.0.jar.md5 is missing or wrong",
        f"{artifact}-1.0.jar.sha1 is missing or wrong",
        f"{artifact}-1.0-javadoc.jar is missing",
        f"{artifact}-1.0-tests-javadoc.jar is no part of it",
    ]


def test_a_pom_without_addresses_is_left_to_people(repository: Path) -> None:
    pom = maven.file_of(repository, "spark-zorder-9.9_2.13", "1.0", ".pom")
    assert maven.missing_elements(pom, maven.ADDRESSES) == ["scm/url", "scm/connection"]
    first, *rest = check.left(repository, "1.0")
    assert "scm/url, scm/connection" in first
    assert len(rest) == 3


def test_the_checksums_are_those_of_all_files(repository: Path) -> None:
    files = [path for path in repository.rglob("*") if path.is_file()]
    assert check.checksums(repository) == len(files)
    assert check.checksums(repository) == len(files)
    found = dict(line.split("  ")[::-1] for line in (repository / "SHA256SUMS").read_text().splitlines())
    assert found == {str(f.relative_to(repository)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}
