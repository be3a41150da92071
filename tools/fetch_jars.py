"""Fetch jars of others that the build and the tests need, and check them: fetch_jars.py <java> <folder> <group>..

`tools/jars.txt` lists them. Those of a group go into `<folder>/<group>`. Nothing of the user's home is read, so other
builds' leftovers there cannot disturb us.
"""

import hashlib
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path

LIST = Path(__file__).with_name("jars.txt")

SETTINGS = """
<ivysettings>
  <settings defaultResolver="central"/>
  <caches defaultCacheDir="{cache}"/>
  <resolvers><ibiblio name="central" m2compatible="true"/></resolvers>
</ivysettings>
"""
MODULE = """
<ivy-module version="2.0">
  <info organisation="org.sparkzorder" module="fetched"/>
  <dependencies>{dependencies}</dependencies>
</ivy-module>
"""
# Each jar is listed, so none may bring others.
DEPENDENCY = '<dependency org="{}" name="{}" rev="{}" transitive="false" conf="*->master"/>'


@dataclass(frozen=True)
class Jar:
    """One line of the list."""

    group: str
    coordinates: str
    sha256: str

    @property
    def file(self) -> str:
        """Its path below the folder."""
        _, name, version = self.coordinates.split(":")
        return f"{self.group}/{name}-{version}.jar"

    def fault(self, folder: Path) -> str | None:
        """Why the file in `folder` cannot be used; None when it can."""
        path = folder / self.file
        if not path.exists():
            return f"{self.coordinates} could not be fetched"
        found = digest(path)
        return None if found == self.sha256 else f"{self.coordinates} has SHA-256 {found}, not {self.sha256}"


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while part := file.read(1 << 20):
            found.update(part)
    return found.hexdigest()


def listed(groups: list[str]) -> list[Jar]:
    """The jars of these groups."""
    lines = (line.split() for line in LIST.read_text().splitlines() if line and not line.startswith("#"))
    return [jar for jar in (Jar(*line) for line in lines) if jar.group in groups]


def fetch(java: str, folder: Path, jars: list[Jar]) -> str:
    """Ask Maven Central, and return what Ivy printed. pyspark carries Ivy."""
    spec = find_spec("pyspark")
    if spec is None or spec.origin is None:
        sys.exit("pyspark is not installed beside this Python")
    dependencies = "".join(DEPENDENCY.format(*jar.coordinates.split(":")) for jar in jars)
    with tempfile.TemporaryDirectory() as work:
        settings, module = Path(work) / "settings.xml", Path(work) / "ivy.xml"
        settings.write_text(SETTINGS.format(cache=Path(work) / "cache"))
        module.write_text(MODULE.format(dependencies=dependencies))
        command = [java, f"-Duser.home={work}", "-cp", f"{Path(spec.origin).parent}/jars/*", "org.apache.ivy.Main"]
        command += ["-settings", str(settings), "-ivy", str(module), "-confs", "default"]
        command += ["-retrieve", f"{folder}/[artifact]-[revision].[ext]"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    return done.stdout


def rounds(jars: list[Jar]) -> list[list[Jar]]:
    """The jars without two versions of one in a round: Ivy would take the newer one only."""
    versions: dict[str, list[Jar]] = {}
    for jar in jars:
        versions.setdefault(jar.coordinates.rpartition(":")[0], []).append(jar)
    return [[jar for jar in jars if jar] for jars in zip_longest(*versions.values())]


def main(java: str, folder: Path, groups: list[str]) -> None:
    """Fetch what is missing or damaged, or leave with an error in words."""
    for group in groups:
        missing = [jar for jar in listed([group]) if jar.fault(folder)]
        if not missing:
            continue
        target = folder / group
        target.mkdir(parents=True, exist_ok=True)
        for jar in missing:
            (folder / jar.file).unlink(missing_ok=True)
        printed = "\n".join(fetch(java, target.absolute(), jars) for jars in rounds(missing))
        if faults := [fault for jar in missing if (fault := jar.fault(folder))]:
            for jar in missing:
                (folder / jar.file).unlink(missing_ok=True)
            sys.exit("\n".join([printed, *faults, "none of these is used"]))


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3:])
