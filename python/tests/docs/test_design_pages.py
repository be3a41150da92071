"""The design pages, and the diagrams of the code, name classes that are there."""

import re
from pathlib import Path

import pytest
from conftest import REPOSITORY

PAGES = sorted((REPOSITORY / "docs" / "design").glob("*.md"))
# `StatsPredicate`, `predicate.StatsPredicate` and `Trash.tidy`, but neither `OPTIMIZE` nor `_README.txt`.
NAME = re.compile(r"`(?:[a-z]+\.)*([A-Z][A-Za-z]*[a-z][A-Za-z]*)(?:\.([a-z]\w*))?`")
WORD = re.compile(r"\w+")


@pytest.fixture(scope="module")
def identifiers() -> frozenset[str]:
    return frozenset(
        word
        for path in (REPOSITORY / "jvm").rglob("*.scala")
        for word in WORD.findall(path.read_text(encoding="utf-8"))
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_classes_that_a_page_names_are_in_the_sources(page: Path, identifiers: frozenset[str]) -> None:
    text = page.read_text(encoding="utf-8")
    named = {name for match in NAME.finditer(text) for name in match.groups() if name}
    assert sorted(named - identifiers) == []


def test_the_tests_that_pages_name_are_there() -> None:
    text = (REPOSITORY / "docs" / "design" / "promises.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([a-z]+/test_\w+\.py)`", text))
    assert len(named) > 30
    assert sorted(name for name in named if not (REPOSITORY / "python" / "tests" / name).exists()) == []
    suites = {path.stem for path in (REPOSITORY / "jvm" / "src" / "test").rglob("*Suite.scala")}
    assert sorted(set(re.findall(r"`(\w+Suite)`", text)) - suites) == []


def test_the_overview_has_each_page() -> None:
    docs = REPOSITORY / "docs"
    text = (docs / "design" / "overview.md").read_text(encoding="utf-8")
    linked = {(docs / "design" / link).resolve() for link in re.findall(r"\]\(([^)#]+\.md)", text)}
    known = {docs / "index.md", docs / "glossary.md", docs / "design" / "overview.md"}
    assert sorted(str(page.relative_to(docs)) for page in set(docs.rglob("*.md")) - linked - known) == []


def test_the_reading_order_has_each_room() -> None:
    text = (REPOSITORY / "docs" / "design" / "reading-order.md").read_text(encoding="utf-8")
    # `write.task`, and the room of `write.task.FileTask`.
    named = set(re.findall(r"`([a-z0-9]+(?:\.[a-z0-9]+)*)(?:\.[A-Z]\w*)?`", text))
    rooms = (REPOSITORY / "docs" / "design" / "rooms.md").read_text(encoding="utf-8")
    assert sorted(set(re.findall(r"^\| `([a-z0-9.]+)` \|", rooms, re.MULTILINE)) - named) == []


@pytest.mark.parametrize("picture", ["code-query.svg", "code-statement.svg"])
def test_the_classes_that_a_diagram_names_are_in_the_sources(picture: str) -> None:
    sources = REPOSITORY / "jvm" / "src" / "main" / "scala" / "org" / "sparkzorder"
    text = (REPOSITORY / "docs" / "img" / picture).read_text(encoding="utf-8")
    named = re.findall(r'<text class="name"[^>]*>([^<]+)</text>', text)
    assert named
    for name in named:
        path = sources / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".scala").exists(), name
