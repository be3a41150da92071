"""The memory of filters."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from spark_zorder import explain_skipping

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

EARLIER = "name LIKE '%33' AND length(name) = 4 AND name RLIKE '[1357]33'"


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


@pytest.mark.test_all
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
