"""The imports of the Scala code agree with the table in docs/design/rooms.md."""

import re
from collections.abc import Iterator
from pathlib import Path

from conftest import REPOSITORY

ROOT = "(root)"
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"""(?:.|\n)*?"""|"(?:[^"\\\n]|\\.)*"', re.DOTALL)
PACKAGE = re.compile(r"^package ([\w.]+)", re.MULTILINE)
# A name of a package of ours in an import or in the code, up to the type, the wildcard or the selectors behind it.
REFERENCE = re.compile(r"\b(org\.sparkzorder(?:\.[a-z]\w*)*|org\.apache\.spark\.sql\.zorder)\.(?=[A-Z_{])")
TOP_LEVEL = re.compile(r"^(?:[a-z]+(?:\[\w+\])? )*(?:class|trait|object) (\w+)", re.MULTILINE)
DEFINED = re.compile(r"(?<!case )\b(?:object) ([A-Z]\w*)|\b(?:class|trait|type) ([A-Z]\w*)")
# Everyday words that the glossary gives one meaning, and the only rooms, with those in them, whose types they name.
EVERYDAY: dict[str, str | tuple[str, ...]] = {
    "Answer": "skipping/answer", "Cut": "layout", "Frame": "layout", "Position": "layout", "Drift": "layout",
    "Tie": "layout", "Layer": "layout", "Cell": ("layout", "optimize/plan"), "Over": ("layout", "optimize/plan"),
    "Unit": ("layout", "write"), "Packing": "optimize", "Lookup": "optimize/report", "Slot": "write",
    "Place": "commit", "Marker": "commit/place", "Lock": "commit", "Staging": "commit", "Trash": "commit",
    "Room": "nowhere",
}  # fmt: skip
# Our types in packages of Spark, which are imported together with Spark's own.
IN_SPARK = {"RuntimeExceptionWithCondition": "spark", "ZOrderSource": "spark.metrics.source"}


def rooms() -> dict[str, set[str]]:
    """Each package of the table with the packages that it may use."""
    table: dict[str, set[str]] = {}
    for line in (REPOSITORY / "docs/design/rooms.md").read_text().splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) == 3 and (cells[0] == ROOT or cells[0].startswith("`")):
            table[cells[0].strip("`")] = set(re.findall(r"`([\w.]+)`", cells[2]))
    return table


def room(package: str) -> str:
    if package == "org.sparkzorder":
        return ROOT
    return package.removeprefix("org.sparkzorder.").removeprefix("org.apache.").split(".antlr")[0]


def sources() -> Iterator[Path]:
    for folder in ("jvm/src/main/scala", "jvm/src/main/java", "jvm/shims"):
        yield from (p for p in (REPOSITORY / folder).rglob("*") if p.suffix in {".scala", ".java"})


def references(source: str) -> tuple[str, set[str]]:
    """The room that a source file is in, and the rooms that it names."""
    code = NO_CODE.sub("", source)
    match = PACKAGE.search(code)
    assert match
    used = {room(m[1]) for m in REFERENCE.finditer(code)}
    used |= {package for name, package in IN_SPARK.items() if re.search(rf"\b{name}\b", code)}
    own = room("org.sparkzorder" if "package object sparkzorder" in code else match[1])
    return own, used - {own}


def test_every_package_is_in_the_table_and_every_package_of_the_table_exists() -> None:
    packages = {references(path.read_text())[0] for path in sources()}
    assert packages == set(rooms())


def test_each_name_of_a_class_has_one_meaning() -> None:
    named: dict[str, set[str]] = {}
    for path in (REPOSITORY / "jvm/src/main/scala").rglob("*.scala"):
        own, _ = references(path.read_text())
        for name in TOP_LEVEL.findall(NO_CODE.sub("", path.read_text())):
            named.setdefault(name, set()).add(own)
    assert len(named) > 500
    assert {name: rooms for name, rooms in named.items() if len(rooms) > 1} == {}


def test_a_word_of_the_glossary_names_one_thing() -> None:
    first = re.findall(r"^\| ([^|`(]+?)(?: \(.*?\))? \|", (REPOSITORY / "docs/glossary.md").read_text(), re.MULTILINE)
    words = {"".join(w.title().split()) for cell in first for w in cell.split(", ")} - {"Word"}
    assert len(words) > 50
    assert set(EVERYDAY) <= words
    named: dict[str, set[str]] = {}
    for path in (REPOSITORY / "jvm/src/main/scala/org/sparkzorder").rglob("*.scala"):
        where = str(path.relative_to(REPOSITORY / "jvm/src/main/scala/org/sparkzorder"))
        for names in DEFINED.findall(NO_CODE.sub("", path.read_text())):
            named.setdefault("".join(names), set()).add(where)
    plural = {name: sorted(files) for name, files in named.items() if {name, name.removesuffix("s")} & words}
    assert {name: files for name, files in plural.items() if len(files) > 1} == {}
    for word, room in EVERYDAY.items():
        within = {n: f for n, f in named.items() if re.search(rf"{word}s?(?![a-z])", n)}
        assert {n: f for n, f in within.items() if not all(x.startswith(room) for x in f)} == {}


def test_a_row_of_the_table_names_each_room_once() -> None:
    rows = [
        line
        for line in (REPOSITORY / "docs/design/rooms.md").read_text().splitlines()
        if line.startswith(("| `", f"| {ROOT} "))
    ]
    assert len(rows) == len(rooms())
    names = {row: re.findall(r"`([\w.]+)`", row.strip("|").split("|")[-1]) for row in rows}
    assert [row for row, used in names.items() if len(used) > len(set(used))] == []


def test_imports_are_in_the_table() -> None:
    table = rooms()
    forbidden = {}
    for path in sources():
        own, used = references(path.read_text())
        if used - table[own]:
            forbidden[path.name] = f"`{own}` may not use {sorted(used - table[own])}"
    assert not forbidden


def test_no_package_of_the_table_uses_one_that_uses_it() -> None:
    table = rooms()
    done: set[str] = set()
    while len(done) < len(table):
        free = {name for name, uses in table.items() if name not in done and uses <= done}
        assert free, f"these packages are in a cycle, or use one: {sorted(set(table) - done)}"
        done |= free


def test_the_table_allows_nothing_that_no_code_needs() -> None:
    needed: dict[str, set[str]] = {}
    for path in sources():
        own, used = references(path.read_text())
        needed.setdefault(own, set()).update(used)
    spare = {name: sorted(uses - needed.get(name, set())) for name, uses in rooms().items()}
    assert not {name: uses for name, uses in spare.items() if uses}


OUTERMOST = re.compile(r"^(?:(?:private|sealed|final|abstract|case)(?:\[\w+\])? )*(?:class|object|trait) (\w+)", re.M)
NESTED = re.compile(r"^ +.*\b(?:class|object|trait|type) (\w+)", re.MULTILINE)
NAME = re.compile(r"(?<![.\w])([A-Z]\w*)")
SOURCES = REPOSITORY / "jvm/src/main/scala/org/sparkzorder"


def uses_of_files(package: str) -> dict[str, set[str]]:
    """Each file of a package with the other files of it that its code names."""
    files = (SOURCES / package.replace(".", "/")).glob("*.scala")
    code = {path.name: NO_CODE.sub("", path.read_text()) for path in files}
    home = {name: file for file, text in code.items() for name in OUTERMOST.findall(text)}
    found = {}
    for file, text in code.items():
        names = set(NAME.findall(text)) - set(NESTED.findall(text))
        found[file] = {home[name] for name in names if home.get(name, file) != file}
    return found


def tangle(uses: dict[str, set[str]]) -> set[str]:
    """The files that are in a cycle, or use one."""
    done: set[str] = set()
    while free := {file for file, used in uses.items() if file not in done and used <= done}:
        done |= free
    return set(uses) - done


def test_no_file_uses_one_that_uses_it() -> None:
    packages = {".".join(p.relative_to(SOURCES).parts) for p in SOURCES.rglob("*") if p.is_dir()}
    assert not {package: files for package in packages if (files := tangle(uses_of_files(package)))}
    assert "commit" in packages


def test_files_that_use_each_other_are_found() -> None:
    assert tangle({"a": {"b"}, "b": {"a"}, "c": {"a"}, "d": set()}) == {"a", "b", "c"}


def test_a_forbidden_import_is_found() -> None:
    own, used = references("package org.sparkzorder.layout\nimport org.sparkzorder.commit.{Lock, Record}\n")
    assert (own, used) == ("layout", {"commit"})
    assert "commit" not in rooms()[own]
    assert references("package org.sparkzorder.layout\n/** [[org.sparkzorder.commit.Lock]] */\n")[1] == set()


def test_a_package_inside_another_is_a_room() -> None:
    own, used = references("package org.sparkzorder.write.task\nimport org.sparkzorder.write.job.RewriteJob\n")
    assert (own, used) == ("write.task", {"write.job"})
    assert "write.job" not in rooms()[own]
