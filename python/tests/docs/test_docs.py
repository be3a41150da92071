"""Every example of the documentation prints what the page shows. `WRITE_DOCS=1` writes the pages: look at the diff."""

import json
import re
import subprocess
import sys
from pathlib import Path

import docs_pages
import pytest
from conftest import REPOSITORY
from pyspark.sql import SparkSession

PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]


@pytest.mark.parametrize("path", PAGES[1:], ids=lambda path: str(path.relative_to(REPOSITORY)))
def test_the_examples_of_page(spark: SparkSession, database: Path, monkeypatch: pytest.MonkeyPatch, path: Path) -> None:
    if not docs_pages.examples(path.read_text(), docs_pages.tables()):
        pytest.skip("no examples")
    monkeypatch.chdir(database)
    docs_pages.check(docs_pages.Page(spark, database, path, docs_pages.tables()))


def test_the_readme_and_the_first_page_have_the_same_figures() -> None:
    readme, index = (page.read_text() for page in (REPOSITORY / "README.md", REPOSITORY / "docs" / "index.md"))
    tables = [re.findall(r"^\|.*\|$", text, re.MULTILINE) for text in (readme.replace("](docs/", "]("), index)]
    assert tables[0] == tables[1] != []


def test_the_error_that_lists_all_options_has_those_of_the_reference() -> None:
    page = (REPOSITORY / "docs" / "statements" / "optimize.md").read_text()
    error = re.search(r"There is no option of this name\. The options are (.*?)\. SQLSTATE", " ".join(page.split()))
    assert error is not None
    reference = (REPOSITORY / "docs" / "reference" / "options.md").read_text().partition("\n## RESTORE")[0]
    in_tables = re.findall(r"^\| `([a-z.-]+)` \|", reference, re.MULTILINE)
    assert sorted(re.findall(r"`(.*?)`", error[1])) == sorted(in_tables)
    # The page of the statement has a table of the most frequent ones.
    cells = re.findall(r"^\| (`.*?`) \| ", page.partition("\n## Options\n")[2].partition("\n##")[0], re.MULTILINE)
    assert cells
    assert set(re.findall(r"`(.*?)`", " ".join(cells))) <= set(in_tables)


NAME = r"^#+ ([A-Z]+(?: [A-Z]+)*)\n"
STATEMENTS = {
    match[1]: match[2]
    for page in sorted((REPOSITORY / "docs" / "statements").glob("*.md"))
    for match in re.finditer(rf"{NAME}(.*?)(?={NAME}|\Z)", page.read_text(), re.M | re.S)
}
"""Each statement with its page, or its part of a page: what comes after a heading in capital letters."""


@pytest.mark.parametrize("statement", STATEMENTS)
def test_the_part_of_a_statement_shows_it_in_sql_and_in_python(statement: str) -> None:
    tabs = re.findall(r"^<!-- tabs -->$(.*?)^<!-- /tabs -->$", STATEMENTS[statement], re.M | re.S)
    assert tabs
    for blocks in tabs:
        assert {"sql", "python"} <= set(re.findall(r"^```(\w+)$", blocks, re.M))


def test_the_errors_of_the_pages_exist() -> None:
    conditions = REPOSITORY / "jvm" / "src" / "main" / "resources" / "error" / "spark-zorder-error-conditions.json"
    entries = json.loads(conditions.read_text())
    known = set(entries) | {f"{name}.{sub}" for name, entry in entries.items() for sub in entry.get("subClass", {})}
    for path in PAGES:
        named = set(re.findall(r"\bZORDER_[A-Z]+(?:_[A-Z0-9]+)*(?:\.[A-Z][A-Z_]+)?\b", path.read_text()))
        assert named <= known, path.name


def test_the_parts_of_a_page() -> None:
    text = (
        "```text\na syntax\n```\n<!-- table: t -->\n```sql\nSELECT 1\n```\n\n```text\n1\n```\n"
        "<!-- not run: a reason -->\n```python\nno\n```\n\n```text\nno\n```\n```python\nprint(2)\n```\n"
        "Words.\n\n```text\nno\n```\n"
    )
    found = docs_pages.examples(text, {"t": "CREATE TABLE t"})
    assert [(e.language, e.code.strip(), e.hidden) for e in found] == [
        ("sql", "DROP TABLE IF EXISTS t;\nCREATE TABLE t", True),
        ("sql", "SELECT 1", False),
        ("python", "print(2)", False),
    ]
    assert [text[slice(*e.shown)] if e.shown else None for e in found] == [None, "1\n", None]


def test_statements_end_with_their_lines() -> None:
    found = list(docs_pages.statements("SELECT ';'\n, 1;  -- a comment\n\nSELECT 2\n"))
    assert found == ["SELECT ';'\n, 1", "SELECT 2"]


def test_dots_stand_for_anything() -> None:
    assert docs_pages.same("a ... d\n", "a b\nc d")
    assert docs_pages.same("|  ...|\n+---+\n", "|1234|\n+----+")
    assert not docs_pages.same("a ... d", "a b c")
    assert not docs_pages.same("1.5", "1x5")


COMMANDS = ["jar", "status", "optimize", "vacuum", "history", "recover", "unlock", "uninstall"]


def help_of(*arguments: str) -> str:
    command = [sys.executable, "-m", "spark_zorder", *arguments, "--help"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout


def test_these_are_all_commands() -> None:
    assert sorted(re.findall(r"^    (\w+)(?: |$)", help_of(), re.MULTILINE)) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_the_page_of_the_command_line_has_the_arguments_of(command: str) -> None:
    page = (REPOSITORY / "docs" / "command-line.md").read_text()
    assert f"$ spark-zorder {command}" in page or f"$(spark-zorder {command})" in page
    arguments = set(re.findall(r"--[a-z][a-z-]+", help_of(command))) - {"--help"}
    assert {argument for argument in arguments if argument not in page} == set()


def words_of(picture: Path) -> list[str]:
    texts = re.findall(r"<text[^>]*>([^<]*)</text>", picture.read_text(encoding="utf-8"))
    # Ticks of the axes are matplotlib's, and change with its versions.
    return sorted(text for text in texts if not re.fullmatch("[\u2212\\d.]+", text))


@pytest.mark.test_all
def test_each_picture_has_the_same_words_and_numbers_when_it_is_drawn_again(tmp_path: Path) -> None:
    command = [sys.executable, str(REPOSITORY / "tools" / "draw_docs.py"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stderr
    drawn = {path.name: words_of(path) for path in tmp_path.glob("*.svg")}
    assert {name: words_of(REPOSITORY / "docs" / "img" / name) for name in drawn} == drawn
