"""docs/support.md says what works on each Spark. `WRITE_DOCS=1` writes the column of this Spark."""

import os
from pathlib import Path

import pytest
from availability import FEATURES
from conftest import REPOSITORY
from pyspark.sql import SparkSession
from spark_versions import SPARKS, minor

PAGE = REPOSITORY / "docs" / "support.md"
HEAD = ["", *(spark.minor for spark in SPARKS)]


def place_of_table(lines: list[str]) -> slice:
    """The lines of the table of features: from its head to the next line that is no row."""
    begin = lines.index("| " + " | ".join(HEAD) + " |")
    return slice(begin, next(n for n in range(begin, len(lines)) if not lines[n].startswith("|")))


def table_of(page: str) -> dict[str, list[str]]:
    """The cells of each feature."""
    lines = page.splitlines()
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[place_of_table(lines)]]
    return {cells[0]: cells[1:] for cells in rows[2:]}


def written(page: str, table: dict[str, list[str]]) -> str:
    lines = page.splitlines()
    head, *rows = ["| " + " | ".join(row) + " |" for row in (HEAD, *([name, *cells] for name, cells in table.items()))]
    lines[place_of_table(lines)] = [head, "|" + "---|" * len(HEAD), *rows]
    return "\n".join(lines) + "\n"


@pytest.mark.older_sparks
@pytest.mark.test_all
def test_the_page_says_what_works_on_this_spark(spark: SparkSession, database: Path) -> None:
    found = {feature.name: feature.cell(spark) for feature in FEATURES}
    column = HEAD.index(minor(spark)) - 1
    if os.environ.get("WRITE_DOCS"):
        before = table_of(PAGE.read_text())
        table = {name: before.get(name, ["?"] * len(SPARKS)) for name in found}
        for name, cell in found.items():
            table[name][column] = cell
        PAGE.write_text(written(PAGE.read_text(), table))
    assert {name: cells[column] for name, cells in table_of(PAGE.read_text()).items()} == found


def test_the_page_has_a_column_for_each_spark() -> None:
    page = PAGE.read_text()
    assert all(len(cells) == len(SPARKS) and "?" not in cells for cells in table_of(page).values())
