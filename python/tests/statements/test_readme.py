"""The examples of the README run, and print what it shows."""

from pathlib import Path

import docs_pages
import pytest
from conftest import REPOSITORY
from pyspark.sql import SparkSession


def test_the_examples_of_the_readme(spark: SparkSession, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(database)
    docs_pages.check(docs_pages.Page(spark, database, REPOSITORY / "README.md", docs_pages.tables()))
