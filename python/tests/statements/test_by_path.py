"""Statements that name a table by its path, although only the catalog knows all about the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import pytest
from comparison import condition_of, same_rows
from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

FORMATS = pytest.mark.parametrize("file_format", ["parquet", "orc"])


def refused(spark: SparkSession, statement: str) -> tuple[str, str]:
    """The condition and the message of a statement's error."""
    with pytest.raises(PySparkException) as caught:
        spark.sql(statement)
    return condition_of(caught.value), str(caught.value)


@pytest.mark.test_rest
@FORMATS
def test_a_default_is_not_lost_by_a_rewrite_of_the_folder(
    spark: SparkSession, database: Path, file_format: str
) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, a BIGINT) USING {file_format}")
    spark.sql("INSERT INTO t SELECT id, id % 7 FROM range(0, 100, 1, 2)")
    spark.sql("ALTER TABLE t ADD COLUMN (c INT DEFAULT 5)")
    by_path = f"OPTIMIZE {file_format}.`{database / 't'}` ORDER BY a OPTIONS ('num-files' = '{{}}')"

    def fives() -> int:
        return len(same_rows(spark, "SELECT * FROM t WHERE c = 5"))

    # No file has the column yet, so no output gets it.
    spark.sql(by_path.format(1))
    assert fives() == 100
    spark.sql("INSERT INTO t SELECT id, id % 7, 6 FROM range(100, 120, 1, 1)")
    before = sorted(path.name for path in (database / "t").glob("*.*"))
    condition, message = refused(spark, by_path.format(1))
    assert condition == "ZORDER_UNSAFE_FILES.MISSING_COLUMN"
    assert "`c`" in message
    assert "Name that table" in message
    assert sorted(path.name for path in (database / "t").glob("*.*")) == before
    spark.sql("OPTIMIZE t ORDER BY a OPTIONS ('num-files' = '2')")
    assert fives() == 100
    # All files have the column now.
    spark.sql(by_path.format(1))
    assert (fives(), spark.table("t").count()) == (100, 120)


@pytest.mark.test_rest
def test_partitions_of_a_folder_whose_files_agree_are_rewritten(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    for p in range(2):
        columns = ["id", "id % 7 AS a", "id AS c"][: 2 + p]
        spark.range(0, 100, 1, 2).selectExpr(*columns).write.parquet(str(folder / f"p={p}"))
    target = f"parquet.`{folder}`"
    assert refused(spark, f"OPTIMIZE {target} ORDER BY a")[0] == "ZORDER_UNSAFE_FILES.MISSING_COLUMN"
    for p in range(2):
        spark.sql(f"OPTIMIZE {target} WHERE p = {p} ORDER BY a OPTIONS ('num-files' = '1')")
        (path,) = (folder / f"p={p}").glob("*.parquet")
        assert pq.ParquetFile(path).schema_arrow.names == ["id", "a", "c"][: 2 + p]
    assert refused(spark, f"OPTIMIZE {target} FULL WHERE p = 0 ORDER BY (c)")[0] != "ZORDER_UNSAFE_FILES.MISSING_COLUMN"
    merged = spark.read.option("mergeSchema", "true").parquet(str(folder))
    assert merged.where("c IS NULL").count() == 100
    # A table defines its columns.
    spark.sql(f"CREATE TABLE t_by_path USING parquet OPTIONS (mergeSchema 'true') LOCATION '{folder}'")
    try:
        spark.sql("MSCK REPAIR TABLE t_by_path")
        spark.sql("OPTIMIZE t_by_path FULL ORDER BY c")
        assert spark.table("t_by_path").where("c IS NULL").count() == 100
    finally:
        spark.sql("DROP TABLE t_by_path")


@FORMATS
def test_buckets_are_seen_by_the_names_of_files(spark: SparkSession, database: Path, file_format: str) -> None:
    frame = spark.range(100).selectExpr("id", "id % 7 AS a")
    frame.write.format(file_format).bucketBy(4, "id").sortBy("id").saveAsTable("t")
    before = sorted((database / "t").iterdir())
    condition, message = refused(spark, f"OPTIMIZE {file_format}.`{database / 't'}` ORDER BY a")
    assert condition == "ZORDER_UNSAFE_TABLE.BUCKET_FILE"
    assert "bucket" in message
    assert sorted((database / "t").iterdir()) == before
    assert spark.table("t").where("id = 3").count() == 1


def test_digits_behind_an_underscore_are_no_bucket(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, 100, 1, 2).selectExpr("id", "id % 7 AS a")
    frame.write.parquet(str(tmp_path / "files"))
    for n, path in enumerate(sorted((tmp_path / "files").glob("*.parquet"))):
        path.rename(path.with_name(f"log_{2000 + n}.parquet" if n else "000000_0"))
    row = spark.sql(f"OPTIMIZE parquet.`{tmp_path / 'files'}` ORDER BY a OPTIONS ('num-files' = '1')").head()
    assert row is not None
    assert row.metrics.numFilesAdded == 1
