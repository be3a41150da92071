"""What Maven Central checks before it takes a bundle, and whether a build finds our jars in the folder."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from pathlib import Path

GROUP = "org.sparkzorder"
ENDINGS = (".jar", ".pom", "-sources.jar", "-javadoc.jar")
# https://central.sonatype.org/publish/requirements/
ELEMENTS = ("name", "description", "licenses/license/name", "developers/developer/name")
ADDRESSES = ("url", "scm/url", "scm/connection")

_POM = "{http://maven.apache.org/POM/4.0.0}"
_SETTINGS = """
<ivysettings>
  <settings defaultResolver="here"/>
  <caches defaultCacheDir="{cache}"/>
  <resolvers><ibiblio name="here" m2compatible="true" root="{root}"/></resolvers>
</ivysettings>
"""


def artifacts(repository: Path) -> list[str]:
    """The names of our jars in a repository, without their version."""
    return sorted(path.name for path in (repository / GROUP.replace(".", "/")).iterdir() if path.is_dir())


def file_of(repository: Path, artifact: str, version: str, ending: str) -> Path:
    """The path of a file of an artifact."""
    return repository / GROUP.replace(".", "/") / artifact / version / f"{artifact}-{version}{ending}"


def wrong_files(repository: Path, artifact: str, version: str) -> list[str]:
    """The files that an artifact lacks or has too many, and those whose checksum is missing or wrong."""
    found = []
    for ending in ENDINGS:
        file = file_of(repository, artifact, version, ending)
        if not file.is_file():
            found.append(f"{file.name} is missing")
            continue
        for kind in ("md5", "sha1"):
            sums = file.with_name(f"{file.name}.{kind}")
            if not sums.is_file() or sums.read_text().strip() != hashlib.new(kind, file.read_bytes()).hexdigest():
                found.append(f"{sums.name} is missing or wrong")
    names = {file_of(repository, artifact, version, ending).name for ending in ENDINGS}
    known = names | {f"{name}.{kind}" for name in names for kind in ("md5", "sha1", "asc")}
    folder = file_of(repository, artifact, version, ".jar").parent
    return found + [f"{path.name} is no part of it" for path in sorted(folder.iterdir()) if path.name not in known]


def missing_elements(pom: Path, elements: tuple[str, ...]) -> list[str]:
    """The elements that a POM lacks."""
    root = ElementTree.parse(pom).getroot()
    return [path for path in elements if not root.findtext("/".join(_POM + part for part in path.split("/")))]


def resolve(repository: Path, artifact: str, version: str, java: str, ivy: Path) -> str | None:
    """Ask for an artifact as a build of somebody else does. Returns what went wrong."""
    with tempfile.TemporaryDirectory() as work:
        settings = Path(work) / "settings.xml"
        settings.write_text(_SETTINGS.format(cache=Path(work) / "cache", root=repository.absolute().as_uri()))
        command = [java, f"-Duser.home={work}", "-cp", f"{ivy}/*", "org.apache.ivy.Main", "-settings", str(settings)]
        command += ["-dependency", GROUP, artifact, version, "-retrieve", f"{work}/[artifact].[ext]"]
        command += ["-confs", "default"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        jar = Path(work) / f"{artifact}.jar"
        published = file_of(repository, artifact, version, ".jar")
        if jar.is_file() and jar.read_bytes() == published.read_bytes():
            return None
        return done.stdout
