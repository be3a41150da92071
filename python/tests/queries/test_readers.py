"""Readers without the extension do what docs/readers.md says with each form of path, and never count wrong."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import REPOSITORY, SUPPORT
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from readers import FORMS
from small_tables import SmallTable

PYTHON = REPOSITORY / "build" / "envs" / "readers" / "bin" / "python"
PAGE = REPOSITORY / "docs" / "readers.md"
OURS = "Spark with the extension"

Found = dict[tuple[str, str], int | str]


def asked(python: Path | str, folder: Path, *names: str) -> Found:
    """The results of readers on a folder: numbers of rows, or the words of an error."""
    command = [str(python), str(SUPPORT / "readers.py"), str(folder), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=600)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')]
    return {(reader, form): found for reader, form, found in lines}


def with_us(spark: SparkSession, path: str) -> int | str:
    try:
        return spark.read.parquet(path).count()
    except PySparkException as e:
        return str(e)


def all_of(spark: SparkSession, folder: Path) -> Found:
    ours: Found = {(OURS, form): with_us(spark, f"{folder}{form}") for form in FORMS}
    return asked(PYTHON, folder) | asked(sys.executable, folder, "Spark without the extension") | ours


def word(flat: tuple[bool, bool], partitioned: tuple[bool, bool]) -> str:
    """A cell of the table: whether a form works before OPTIMIZE and after it, flat and partitioned."""
    before = [kind for kind, works in (("flat", flat), ("partitioned", partitioned)) if works[0]]
    after = [kind for kind, works in (("flat", flat), ("partitioned", partitioned)) if works[1]]
    if not before:
        return "-"
    if before == after:
        return "yes" if len(before) == 2 else f"{before[0]} only"
    return "**fails**" if not after else f"**{after[0]} only**"


def rows_of(page: str) -> dict[str, list[str]]:
    """The table of the page: the cells of each reader."""
    lines = [[c.strip() for c in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]
    return {cells[0]: cells[1:] for cells in lines[2:] if len(cells) == len(FORMS) + 1}


@pytest.mark.test_all
@pytest.mark.skipif(not PYTHON.exists(), reason="make readers")
def test_the_page_of_readers_is_true(spark: SparkSession, tmp_path: Path) -> None:
    results = {}
    for partitioned in (False, True):
        table = SmallTable.write(tmp_path / f"t{partitioned:d}", partitioned)
        before = all_of(spark, table.root)
        spark.sql(table.optimize)
        spark.sql(table.optimize.replace(" ZORDER", " FULL ZORDER", 1))
        after = all_of(spark, table.root)
        assert not list(table.root.rglob("*.crc"))
        rows = len(table.ids)
        for case, found in after.items():
            assert isinstance(found, str) or found in (rows, before[case]), (case, found)
        results[partitioned] = {case: (before[case] == rows, after[case] == rows) for case in before}
    readers = list(dict.fromkeys(reader for reader, _ in results[False]))
    cells = {r: [word(results[False][r, form], results[True][r, form]) for form in FORMS] for r in readers}
    assert cells == rows_of(PAGE.read_text())
