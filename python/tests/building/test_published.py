"""What `make publish-local` wrote, as a build of somebody else takes it: by `--packages`, with POM and sources."""

import hashlib
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from spark_versions import NEWEST, SPARKS, VERSION
from submit import LOOKUP_PROGRAM, PUBLISHED, by_packages, submit, wait

pytestmark = pytest.mark.test_all

POM = "{http://maven.apache.org/POM/4.0.0}"


def published(artifact: str, ending: str) -> Path:
    """A file of the repository. The test fails when `make` did not write it."""
    file = PUBLISHED / "org" / "sparkzorder" / artifact / VERSION / f"{artifact}-{VERSION}{ending}"
    if not file.exists():
        pytest.fail(f"{file} is missing: make build/stamps/published")
    return file


@pytest.mark.parametrize("artifact", [spark.artifact for spark in SPARKS])
@pytest.mark.parametrize("ending", [".jar", ".pom", "-sources.jar"])
def test_each_jar_has_its_pom_and_sources_with_checksums(artifact: str, ending: str) -> None:
    file = published(artifact, ending)
    assert Path(f"{file}.sha1").read_text() == hashlib.sha1(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("artifact", [spark.artifact for spark in SPARKS])
def test_the_pom_says_what_it_is_and_needs_nothing(artifact: str) -> None:
    pom = ElementTree.parse(published(artifact, ".pom")).getroot()
    found = [pom.findtext(POM + name) for name in ("groupId", "artifactId", "version")]
    assert found == ["org.sparkzorder", artifact, VERSION]
    assert pom.findtext(f"{POM}licenses/{POM}license/{POM}name") == "Apache-2.0"
    assert pom.findtext(f"{POM}developers/{POM}developer/{POM}name") == "The spark-zorder authors"
    assert pom.findtext(f"{POM}description")
    assert pom.find(f"{POM}dependencies") is None


def test_spark_starts_with_the_published_package(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(LOOKUP_PROGRAM)
    # One repository, and a home of its own: neither caches nor leftovers of the user's take part.
    wait(submit(["--master", "local[2]", *by_packages(tmp_path)], program, folder=tmp_path), tmp_path)
    assert "kept 1 rows 7" in (tmp_path / "log").read_text()
    assert (tmp_path / "ivy" / "jars" / f"org.sparkzorder_{NEWEST.artifact}-{VERSION}.jar").exists()
