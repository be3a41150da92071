"""End a release: check.py <folder> --java <java> --ivy <folder of jars>.

Checks the files as PyPI and Maven Central do before they take them, writes the checksums of all, and lists what is left
for the people who upload. Exits with 1 when a check fails.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import maven

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Check:
    """A check in words, and what it found. Without a finding it has passed."""

    words: str
    findings: list[str]

    def lines(self) -> list[str]:
        """The lines to print."""
        return [f"{'✗' if self.findings else '✓'} {self.words}", *(f"    {finding}" for finding in self.findings)]


def sparks() -> list[str]:
    """The supported minor versions of Spark."""
    lines = (ROOT / "spark-versions.txt").read_text().splitlines()
    return [line.split()[0] for line in lines if line and not line.startswith("#")]


def pypi(folder: Path) -> Iterator[Check]:
    """The checks of `twine check`, and that there are a wheel and the sources."""
    files = sorted(folder.iterdir())
    kinds = {"wheel": ".whl", "sources": ".tar.gz"}
    lacking = [f"no {kind}" for kind, ending in kinds.items() if not any(f.name.endswith(ending) for f in files)]
    yield Check("PyPI: a wheel and its sources", lacking)
    command = [sys.executable, "-m", "twine", "check", "--strict", *map(str, files)]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    yield Check("PyPI: twine check", done.stdout.splitlines() if done.returncode else [])
    if not lacking:
        [wheel], [sources] = ([f for f in files if f.name.endswith(ending)] for ending in kinds.values())
        yield Check("PyPI: the sources build the same wheel", unlike(wheel, sources))


def unlike(wheel: Path, sources: Path) -> list[str]:
    """The files that differ between the wheel and one that the sources build, or why the sources build none."""
    with tempfile.TemporaryDirectory() as work:
        with tarfile.open(sources) as archive:
            archive.extractall(work, filter="data")
        folder = Path(work) / sources.name.removesuffix(".tar.gz")
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", work]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            return done.stderr.splitlines()[-1:]
        [built] = Path(work).glob("*.whl")
        old, new = contents(wheel), contents(built)
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def contents(wheel: Path) -> dict[str, bytes]:
    """The files of a wheel."""
    with zipfile.ZipFile(wheel) as file:
        return {name: file.read(name) for name in file.namelist()}


def central(repository: Path, version: str, java: str, ivy: Path) -> Iterator[Check]:
    """The checks of Maven Central that need no key, and a build that takes the jars from the folder."""
    names = maven.artifacts(repository)
    lacking = [minor for minor in sparks() if not any(name.startswith(f"spark-zorder-{minor}_") for name in names)]
    yield Check(f"Maven: a jar for each Spark ({', '.join(names)})", lacking)
    files = [finding for name in names for finding in maven.wrong_files(repository, name, version)]
    yield Check("Maven: POM, sources, javadoc and checksums of each", files)
    poms = [maven.file_of(repository, name, version, ".pom") for name in names]
    elements = [f"{pom.name}: {path}" for pom in poms for path in maven.missing_elements(pom, maven.ELEMENTS)]
    yield Check("Maven: name, description, licence and developers in each POM", elements)
    own = ROOT / "build" / "jars"
    others = [
        f"{file.name} is not the wheel's"
        for file in (maven.file_of(repository, name, version, ".jar") for name in names)
        if file.read_bytes() != (own / file.name).read_bytes()
    ]
    yield Check("Maven: the jars are those of the wheel", others)
    failures = [text for name in names if (text := maven.resolve(repository, name, version, java, ivy))]
    yield Check("Maven: a build resolves each jar from the folder", failures)


def checksums(folder: Path) -> int:
    """Write SHA256SUMS for all files below the folder, as `sha256sum --check` reads it. Returns their number."""
    target = folder / "SHA256SUMS"
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path != target)
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files]
    target.write_text("".join(lines))
    return len(lines)


def left(repository: Path, version: str) -> list[str]:
    """What people still do, in this order."""
    name = maven.artifacts(repository)[-1]
    lacking = maven.missing_elements(maven.file_of(repository, name, version, ".pom"), maven.ADDRESSES)
    address = f"build again with the project's address, since each POM lacks {', '.join(lacking)}: make release URL=.."
    return [
        *([address] if lacking else []),
        f"move the entries of CHANGELOG.md below the heading of CHANGES-{version}.md, and tag the commit: v{version}",
        "sign each file in maven/ with a key that Maven Central knows: gpg --armor --detach-sign <file>",
        "upload pypi/ with `twine upload`, and maven/ as a bundle to Maven Central",
    ]


def main() -> int:
    """Check, and print what is done and what is left."""
    parser = argparse.ArgumentParser(description="Checks the files of a release.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--java", default="java")
    parser.add_argument("--ivy", type=Path, required=True, help="a folder of jars with Ivy's")
    given = parser.parse_args()
    version = (ROOT / "VERSION").read_text().strip()
    repository = given.folder / "maven"
    checks = [*pypi(given.folder / "pypi"), *central(repository, version, given.java, given.ivy)]
    for check in checks:
        print("\n".join(check.lines()))
    if any(check.findings for check in checks):
        return 1
    print(f"✓ {checksums(given.folder)} files in {given.folder}, their checksums in SHA256SUMS. Nothing is uploaded.")
    print("Left to do:")
    for number, step in enumerate(left(repository, version), 1):
        print(f"  {number}. {step}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
