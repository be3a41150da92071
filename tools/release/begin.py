"""Begin a release: begin.py <folder>.

Empties the folder, and writes the section of the changelog for this version into it, signed off by the person who runs
this, as `git commit --signoff` does. Fails when the files in the clone are not those of a commit.
"""

from __future__ import annotations

import datetime
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def git(*arguments: str) -> str:
    """What git prints. It is empty when git fails."""
    done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def section(changelog: str, version: str) -> str | None:
    """The text of the changelog for a version: below its own heading, else below `Unreleased`. None without entries."""
    parts = re.split(r"^## (.+)$", changelog, flags=re.MULTILINE)
    texts = {
        heading.split(" - ")[0].strip("[] "): text.strip()
        for heading, text in zip(parts[1::2], parts[2::2], strict=True)
    }
    return texts.get(version) or texts.get("Unreleased") or None


def signed(text: str, version: str, day: datetime.date, commit: str, person: str) -> str:
    """The section with a heading that names the day, and with the commit and the sign-off at its end."""
    return f"## {version} - {day.isoformat()}\n\n{text}\n\nBuilt from commit {commit}.\n\nSigned-off-by: {person}\n"


def main(folder: Path) -> str | None:
    """Write the section. Returns why there can be no release now."""
    version = (ROOT / "VERSION").read_text().strip()
    if changed := git("status", "--porcelain"):
        return f"these files are not those of a commit, so no release can be made of them:\n{changed}"
    if git("tag", "--list", f"v{version}"):
        return f"version {version} has a tag already: raise the number in VERSION"
    name, mail = git("config", "user.name"), git("config", "user.email")
    if not name or not mail:
        return "nobody signs this release off: set user.name and user.email with `git config`"
    text = section((ROOT / "CHANGELOG.md").read_text(), version)
    if text is None:
        return f"CHANGELOG.md says nothing about {version}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    person = f"{name} <{mail}>"
    changes = signed(text, version, datetime.date.today(), git("rev-parse", "HEAD"), person)
    (folder / f"CHANGES-{version}.md").write_text(changes)
    print(f"release {version}, signed off by {person}")
    return None


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
