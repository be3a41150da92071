"""The memory of filters, in sessions and across them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from programs import answers_of

from spark_zorder import explain_skipping, jar_path

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

EARLIER, OTHER = "name LIKE '%33' AND length(name) = 4 AND name RLIKE '[1357]33'", "concat(name, k) LIKE '%1333'"


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    """Eight files of 100 rows, an hour old, with an index."""
    folder = tmp_path / "t"
    rows = spark.range(0, 800, 1, 8).selectExpr("id", "id % 10 AS k", "concat('n', id) AS name")
    rows.write.parquet(str(folder))
    hour_ago = time.time() - 3600
    for file in folder.glob("*.parquet"):
        os.utime(file, (hour_ago, hour_ago))
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    return folder


def read(answers: dict[str, Any], condition: str) -> tuple[list[int], int, int]:
    """The ids that a filter found, and the files that its second run read, and those of them in vain."""
    [scan] = answers[f"files of {condition}"]
    return sorted(row["id"] for row in answers[condition]), scan["files_kept"], scan["files_without_rows"]


def test_a_session_remembers(spark: SparkSession, table: Path) -> None:
    spark.conf.set("spark.zorder.memory.enabled", "true")
    query = f"SELECT count(*) FROM parquet.`{table}` WHERE {EARLIER}"
    first = explain_skipping(spark, query, analyze=True)
    second = explain_skipping(spark, query, analyze=True)
    assert (first.files_total, first.files_kept, first.files_without_rows) == (8, 8, 4)
    assert (second.files_total, second.files_kept, second.files_without_rows) == (8, 4, 0)
    assert str(second).endswith("reads 4 of 8 files, 0 of them without a row")
    assert explain_skipping(spark, query).files_without_rows is None
    assert [row[0] for row in spark.sql(query).collect()] == [4]
    assert not (table / "_zorder" / "memory").exists()


@pytest.mark.matrix
def test_the_next_process_has_what_was_kept(spark: SparkSession, table: Path, tmp_path: Path) -> None:
    def ask(*filters: str) -> dict[str, Any]:
        return answers_of("ask_and_remember.py", str(jar_path()), str(table), *filters, folder=tmp_path)

    found = [133, 333, 533, 733]
    assert read(ask(EARLIER), EARLIER) == (found, 4, 0)
    [file] = (table / "_zorder" / "memory").iterdir()
    assert ".parquet" in file.read_text()
    assert not any(word in file.read_text() for word in ("concat", "length", "LIKE"))
    more = f"{EARLIER} AND id > 600"
    later = ask(f"id < 400 AND {EARLIER}", more, OTHER)
    assert read(later, f"id < 400 AND {EARLIER}") == ([133, 333], 2, 0)
    assert read(later, more)[0] == [733]
    assert read(later, OTHER) == ([133], 1, 0)
    # Rows that came since are found.
    [file_of_first] = table.glob("part-00000*.parquet")
    spark.sql("SELECT 1333L AS id, 3L AS k, 'n133' AS name").write.mode("append").parquet(str(table))
    assert read(ask(OTHER), OTHER)[0] == [133, 1333]
    rows = spark.sql("SELECT 133L AS id, 3L AS k, 'x133' AS name")
    rows.coalesce(1).write.parquet(str(tmp_path / "new"))
    [new] = (tmp_path / "new").glob("*.parquet")
    for checksum in table.glob(".*.crc"):
        checksum.unlink()
    file_of_first.write_bytes(new.read_bytes())
    assert read(ask(OTHER), OTHER)[0] == [133, 133, 1333]
