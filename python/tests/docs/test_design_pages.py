"""The design pages, and the diagrams of the code, name classes that are there."""

from __future__ import annotations

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
    """The words of all Scala sources and tests."""
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


@pytest.mark.parametrize("picture", ["code-query.svg", "code-statement.svg"])
def test_the_classes_that_a_diagram_names_are_in_the_sources(picture: str) -> None:
    sources = REPOSITORY / "jvm" / "src" / "main" / "scala" / "org" / "sparkzorder"
    text = (REPOSITORY / "docs" / "img" / picture).read_text(encoding="utf-8")
    named = re.findall(r'<text class="name"[^>]*>([^<]+)</text>', text)
    assert named
    for name in named:
        path = sources / name.replace(".", "/")
        assert path.is_dir() or path.with_suffix(".scala").exists(), name
