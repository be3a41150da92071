"""The same files under schemas and settings that change a column's values: skipping follows the reader."""

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from comparison import files_read, no_skipping, outcome, same_rows
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
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
def test_the_reading_schema_says_what_a_missing_column_is(
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


SETTINGS: list[dict[str, str]] = [
    {"spark.sql.caseSensitive": "true"},
    {"spark.sql.parquet.binaryAsString": "true"},
    {"spark.sql.parquet.int96TimestampConversion": "true", "spark.sql.session.timeZone": "America/New_York"},
    {"spark.sql.parquet.inferTimestampNTZ.enabled": "false"},
    {"spark.sql.parquet.fieldId.read.enabled": "true", "spark.sql.parquet.fieldId.read.ignoreMissing": "true"},
    {"spark.sql.parquet.mergeSchema": "true", "spark.sql.orc.mergeSchema": "true"},
    {"spark.sql.parquet.enableVectorizedReader": "false", "spark.sql.orc.enableVectorizedReader": "false"},
    {"spark.sql.parquet.datetimeRebaseModeInRead": "LEGACY", "spark.sql.parquet.int96RebaseModeInRead": "LEGACY"},
    {"spark.sql.orc.impl": "hive"},
    {"orc.force.positional.evolution": "true", "orc.force.positional.evolution.level": "5"},
]
"""Settings that let a reader find other columns, other types or other values."""

PREDICATES = [
    "i = 17",
    "d = DATE'1500-01-17'",
    "t = TIMESTAMP'2020-01-18 00:00:00'",
    "n = TIMESTAMP_NTZ'2020-01-18 00:00:00'",
    "CAST(b AS STRING) = 'c'",
    "b = X'63'",
    "s.y = 117",
    "i IS NULL",
]


def columns_of_many_kinds(path: Path, file_format: str, first: int) -> None:
    """Write a file with a column of each kind and ten values of its own."""
    numbers = range(first, first + 10)
    start = dt.datetime(2020, 1, 1)
    columns = {
        "i": pa.array(numbers, pa.int32()),
        "d": pa.array([dt.date(1500, 1, 1) + dt.timedelta(n) for n in numbers]),
        "t": pa.array([start + dt.timedelta(n) for n in numbers], pa.timestamp("us", tz="UTC")),
        "n": pa.array([start + dt.timedelta(n) for n in numbers], pa.timestamp("us")),
        "b": pa.array([bytes([97 + n % 26]) for n in numbers], pa.binary()),
        "e": pa.array([Decimal(n) for n in numbers], pa.decimal128(10, 2)),
        "f": pa.array([float(n) for n in numbers], pa.float32()),
        "s": pa.array([{"x": n, "y": n + 100} for n in numbers], pa.struct([("x", pa.int32()), ("y", pa.int32())])),
    }
    if file_format == "orc":
        orc.write_table(pa.table(columns), path)
    else:
        pq.write_table(pa.table(columns), path, use_deprecated_int96_timestamps=file_format == "int96")


def counts(spark: SparkSession, predicates: list[str]) -> dict[str, int] | None:
    """How many rows of the view `asked` satisfy each predicate. None if one of the queries fails."""
    try:
        queries = [f"SELECT {n} AS n, count(*) AS c FROM asked WHERE {p}" for n, p in enumerate(predicates)]
        return {predicates[row.n]: row.c for row in spark.sql(" UNION ALL ".join(queries)).collect()}
    except (PySparkException, Py4JJavaError):
        return None


@pytest.mark.test_all
@pytest.mark.parametrize("file_format", ["parquet", "int96", "orc"])
def test_no_setting_of_the_reader_changes_the_rows(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    reader = "orc" if file_format == "orc" else "parquet"
    for f in range(FILES):
        columns_of_many_kinds(tmp_path / f"part-{f}.{reader}", file_format, f * 10)
    spark.sql(f"CREATE SKIPPING INDEX ON {reader}.`{tmp_path}`")
    own = spark.read.format(reader).load(str(tmp_path)).schema
    ids = StructType([StructField(f.name, f.dataType, True, {"parquet.field.id": i}) for i, f in enumerate(own.fields)])
    turned = StructType(list(reversed(own.fields)))
    compared = 0
    for values in SETTINGS:
        for key, value in values.items():
            spark.conf.set(key, value)
        positional = "orc.force.positional.evolution" in values
        schema = ids if "spark.sql.parquet.fieldId.read.enabled" in values else turned if positional else own
        spark.read.schema(schema).format(reader).load(str(tmp_path)).createOrReplaceTempView("asked")
        with no_skipping(spark):
            fine = PREDICATES if counts(spark, PREDICATES) else [p for p in PREDICATES if counts(spark, [p])]
            expected = counts(spark, fine) if fine else {}
        if fine:
            assert counts(spark, fine) == expected, values
            compared += len(fine)
        for key in values:
            spark.conf.unset(key)
    assert compared > 50
