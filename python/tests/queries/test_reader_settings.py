"""The same files under schemas and settings that change a column's values: skipping follows the reader."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from comparison import files_read, no_skipping, outcome, same_rows
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import IntegerType, LongType, StructField, StructType

pytestmark = pytest.mark.test_all

FORMATS = pytest.mark.parametrize("file_format", ["parquet", "orc"])

FILES = 4
"""The files of a folder, of 100 rows each."""


def write(folder: Path, file_format: str, *names: str) -> None:
    """Write files with these column names. The first column counts from 0, each next one from a million more."""
    folder.mkdir(parents=True, exist_ok=True)
    for f in range(FILES):
        rows = range(f * 100, f * 100 + 100)
        table = pa.table({name: pa.array([c * 10**6 + r for r in rows], pa.int64()) for c, name in enumerate(names)})
        path = folder / f"part-{f}.{file_format}"
        if file_format == "orc":
            orc.write_table(table, path)
        else:
            pq.write_table(table, path)


def external(spark: SparkSession, name: str, columns: str, folder: Path, file_format: str) -> None:
    # What filters have found is not the index's: on a slow machine, files are old enough to be remembered.
    spark.conf.set("spark.zorder.memory.enabled", "false")
    spark.sql(f"CREATE TABLE {name} ({columns}) USING {file_format} LOCATION '{folder}'")


def agree(spark: SparkSession, frame: DataFrame) -> int:
    """Check that skipping does not change a query's rows. Returns their number, or -1 for an error."""
    frame.createOrReplaceTempView("asked")
    with no_skipping(spark):
        expected = outcome(spark.sql("SELECT * FROM asked"))
    found = outcome(spark.sql("SELECT * FROM asked"))
    assert found == expected
    return len(found) if isinstance(found, list) else -1


@FORMATS
def test_missing_columns_are_of_the_schema(
    spark: SparkSession, database: Path, tmp_path: Path, file_format: str
) -> None:
    folder = tmp_path / "files"
    write(folder, file_format, "id")
    external(spark, "nulls", "id BIGINT, c INT", folder, file_format)
    external(spark, "fives", "id BIGINT, c INT DEFAULT 5", folder, file_format)
    spark.sql("CREATE SKIPPING INDEX ON nulls")
    asked = {"c = 5": (0, FILES), "c IS NULL": (FILES, FILES), "c = 5 AND id = 7": (0, 1), "c <=> 5": (0, FILES)}
    for predicate, kept in asked.items():
        for table, files in zip(("nulls", "fives"), kept, strict=True):
            query = f"SELECT * FROM {table} WHERE {predicate}"
            same_rows(spark, query)
            assert files_read(spark, query) == (files, FILES), query
    assert len(same_rows(spark, "SELECT * FROM fives WHERE c = 5")) == 400
    # Another schema has another default. The same index still skips files if they do not need a default.
    nine = StructType([StructField("id", LongType()), StructField("c", IntegerType(), True, {"EXISTS_DEFAULT": "9"})])
    read = spark.read.schema(nine).format(file_format)
    assert agree(spark, read.load(str(folder)).where("c = 9")) == 400
    assert agree(spark, read.load(str(folder)).where("c = 5")) == 0
    # The index made with the default is right for the table without it.
    spark.sql("CREATE OR REPLACE SKIPPING INDEX ON fives")
    for table in ("nulls", "fives"):
        for predicate in asked:
            same_rows(spark, f"SELECT * FROM {table} WHERE {predicate}")


@FORMATS
def test_a_default_that_is_added_after_the_index(spark: SparkSession, database: Path, file_format: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT) USING {file_format}")
    write(database / "t", file_format, "id")
    spark.sql("REFRESH TABLE t")
    spark.sql("CREATE SKIPPING INDEX ON t")
    spark.sql("ALTER TABLE t ADD COLUMN (c INT DEFAULT 5)")
    queries = ["SELECT * FROM t WHERE c = 5", "SELECT * FROM t WHERE c IS NULL", "SELECT * FROM t WHERE c = 6"]
    for statement in ("REFRESH SKIPPING INDEX ON t", "CREATE OR REPLACE SKIPPING INDEX ON t", "OPTIMIZE t ORDER BY id"):
        assert [len(same_rows(spark, query)) for query in queries] == [400, 0, 0]
        spark.sql(statement)
    # Now the files contain the values.
    assert [len(same_rows(spark, query)) for query in queries] == [400, 0, 0]
    assert files_read(spark, queries[2])[0] == 0


@contextmanager
def in_hadoop(spark: SparkSession, key: str, value: str) -> Iterator[None]:
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()
    hadoop.set(key, value)
    try:
        yield
    finally:
        hadoop.unset(key)


POSITIONS = "orc.force.positional.evolution"


def test_orc_columns_that_are_found_by_position(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    write(folder, "orc", "a", "b")
    external(spark, "t", "b BIGINT, a BIGINT", folder, "orc")
    spark.sql(f"CREATE TABLE placed (b BIGINT, a BIGINT) USING orc OPTIONS ('{POSITIONS}' 'true') LOCATION '{folder}'")
    spark.sql("CREATE SKIPPING INDEX ON t")
    query = "SELECT * FROM t WHERE a = 7"
    assert (len(same_rows(spark, query)), files_read(spark, query)) == (1, (1, FILES))

    def by_position(table: str) -> None:
        # `a` is the second column. In the files it is `b`.
        assert same_rows(spark, f"SELECT * FROM {table} WHERE a = 7") == []
        assert len(same_rows(spark, f"SELECT * FROM {table} WHERE a = 1000007")) == 1
        assert files_read(spark, f"SELECT * FROM {table} WHERE a = 1000007") == (FILES, FILES)

    spark.conf.set(POSITIONS, "true")
    by_position("t")
    [explained] = spark.sql("EXPLAIN SKIPPING SELECT * FROM t WHERE a = 7").collect()
    assert all("by their position" in conjunct.reason for conjunct in explained.conjuncts)
    spark.conf.unset(POSITIONS)
    with in_hadoop(spark, POSITIONS, "true"):
        by_position("t")
    by_position("placed")
    option = spark.read.schema("b BIGINT, a BIGINT").option(POSITIONS.upper(), "true").orc(str(folder))
    assert agree(spark, option.where("a = 1000007")) == 1
    assert files_read(spark, query) == (1, FILES)


def test_orc_files_of_hive_without_names(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    write(folder, "orc", "_col0", "_col1")
    spark.sql(f"CREATE SKIPPING INDEX ON orc.`{folder}`")
    by_path = f"SELECT * FROM orc.`{folder}` WHERE _col1 = 1000007"
    assert (len(same_rows(spark, by_path)), files_read(spark, by_path)) == (1, (1, FILES))
    # Whatever its name in a schema, the first column is the file's first.
    for names in ("_col1 BIGINT, _col0 BIGINT", "x BIGINT, _col0 BIGINT", "_col0 BIGINT, x BIGINT, _col1 BIGINT"):
        read = spark.read.schema(names).orc(str(folder))
        for name in read.columns:
            for value in (7, 1000007):
                agree(spark, read.where(f"{name} = {value}"))
            agree(spark, read.where(f"{name} IS NULL"))
    # Names that differ from those by position.
    odd = tmp_path / "odd"
    write(odd, "orc", "_col1", "_col0")
    for statement in ("CREATE SKIPPING INDEX ON", "OPTIMIZE"):
        spark.sql(f"{statement} orc.`{odd}`" + (" FULL OPTIONS ('num-files' = '4')" if statement == "OPTIMIZE" else ""))
        for names in ("_col0 BIGINT, _col1 BIGINT", "_col1 BIGINT, _col0 BIGINT"):
            for predicate in ("_col0 = 7", "_col0 = 1000007", "_col1 = 7", "_col1 = 1000007"):
                agree(spark, spark.read.schema(names).orc(str(odd)).where(predicate))
    # A table whose first name is in the file, and whose second is not.
    external(spark, "t", "_col0 BIGINT, a BIGINT, b BIGINT", folder, "orc")
    spark.sql("CREATE OR REPLACE SKIPPING INDEX ON t")
    assert len(same_rows(spark, "SELECT * FROM t WHERE a = 1000007")) == 1
    swapped = spark.read.schema("b BIGINT, a BIGINT, _col0 BIGINT").orc(str(folder))
    for predicate in ("b = 7", "a = 1000007", "_col0 = 7", "_col0 IS NULL", "b IS NULL"):
        agree(spark, swapped.where(predicate))
