"""Schemas and settings that change after the index is made: the rows stay the same, and files are still skipped.

Statistics record the name and the type that they were made for, and are used only for these.
"""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import files_read, no_skipping, outcome, same_rows, settings, skips
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import LongType, StructType

pytestmark = pytest.mark.test_all


def part(spark: SparkSession, folder: Path, file_format: str, first: int, *columns: str, count: int = 100) -> None:
    """Add a file of rows with ids from `first`."""
    frame = spark.range(first, first + count, 1, 1).selectExpr(*(columns or ("id", "CAST(id AS INT) AS a")))
    frame.write.format(file_format).mode("append").save(str(folder))


def same_outcome(spark: SparkSession, query: str) -> list[str] | str:
    """Check that skipping does not change a query's answer, and return it. A skipped file raises no error."""
    with no_skipping(spark):
        expected = outcome(spark.sql(query))
    found = outcome(spark.sql(query))
    if isinstance(expected, list):
        assert found == expected, query
    return found


def test_columns_that_some_files_lack_with_merged_schemas(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    part(spark, folder, "parquet", 0)
    part(spark, folder, "parquet", 100, "id", "CAST(id AS INT) AS a", "CAST(id AS INT) AS b")
    part(spark, folder, "parquet", 200, "id", "CAST(id AS INT) AS b", "named_struct('x', id) AS s")
    spark.read.option("mergeSchema", "true").parquet(str(folder)).createOrReplaceTempView("merged")
    with settings(spark, spark_sql_parquet_mergeSchema="true"):
        spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    for predicate in ("a = 150", "a IS NULL", "b IS NULL", "b < 250", "s.x = 210", "s IS NULL", "b IS NULL AND a > 5"):
        same_rows(spark, f"SELECT * FROM merged WHERE {predicate}")
        same_rows(spark, f"SELECT id FROM parquet.`{folder}` WHERE id = 150")
    assert files_read(spark, "SELECT * FROM merged WHERE id = 150") == (1, 3)


def test_a_schema_given_at_read_with_names_exchanged(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    for n in range(3):
        part(spark, folder, "parquet", n * 100, "id", "-id AS other")
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    for schema in ("other BIGINT, id BIGINT", "ID BIGINT, OTHER BIGINT", "id BIGINT, nowhere BIGINT"):
        spark.read.schema(schema).parquet(str(folder)).createOrReplaceTempView("given")
        for predicate in ("id = 150", "id < -20", "id IS NULL"):
            same_rows(spark, f"SELECT * FROM given WHERE {predicate}")


def test_columns_found_by_field_id(spark: SparkSession, tmp_path: Path) -> None:
    def fields(**ids: int) -> StructType:
        schema = StructType()
        for name, number in ids.items():
            schema = schema.add(name, LongType(), True, {"parquet.field.id": number})
        return schema

    folder = tmp_path / "files"
    for n in range(3):
        rows = [(i, -i) for i in range(n * 100, n * 100 + 100)]
        frame = spark.createDataFrame(rows, fields(x=1, y=2)).coalesce(1)
        frame.write.mode("append").parquet(str(folder))
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")

    def swapped() -> DataFrame:
        return spark.read.schema(fields(x=2, y=1)).parquet(str(folder))

    for by_id in ("true", "false"):
        # Spark itself pushes filters down by name.
        pushed = {"spark_sql_parquet_filterPushdown": "false"}
        with settings(spark, spark_sql_parquet_fieldId_read_enabled=by_id, **pushed):
            swapped().createOrReplaceTempView("swapped")
            found = same_rows(spark, "SELECT * FROM swapped WHERE x = 150")
            assert len(found) == (0 if by_id == "true" else 1)
            found = same_rows(spark, "SELECT * FROM swapped WHERE x = -150")
            assert len(found) == (1 if by_id == "true" else 0)
            assert skips(spark, "SELECT * FROM swapped WHERE x = 150") == (by_id == "false")
    with settings(spark, spark_sql_parquet_fieldId_read_enabled="true"):
        spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON parquet.`{folder}`")
    same_rows(spark, f"SELECT * FROM parquet.`{folder}` WHERE x = 150")


def test_what_spark_leaves_out_by_field_ids_is_not_remembered(spark: SparkSession, tmp_path: Path) -> None:
    """Spark pushes filters down by names, for some columns only."""

    def field(name: str, number: int) -> pa.Field:
        return pa.field(name, pa.int64(), metadata={"PARQUET:field_id": str(number)})

    for n, names in enumerate((("x", "y"), ("y", "x"))):
        values = pa.schema([field(names[0], 1), field(names[1], 2)])
        pq.write_table(pa.table([[999 * n + 1, 1998 * n + 2], [10, 200]], schema=values), tmp_path / f"{n}.parquet")
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{tmp_path}`")
    schema = StructType()
    for number, name in enumerate(("x", "y"), 1):
        schema = schema.add(name, LongType(), True, {"parquet.field.id": number})
    with settings(spark, spark_sql_parquet_fieldId_read_enabled="true"):
        frame = spark.read.schema(schema).parquet(str(tmp_path)).where("x > 150")
        for _ in range(3):
            assert len(frame.collect()) == 2
            frame.select("x").collect()
            frame.count()


ANCIENT = ["0001-01-01", "0900-02-28", "1500-02-28", "1582-10-04", "1582-10-15", "1850-06-01", "1969-12-31"]


@pytest.fixture
def instants(spark: SparkSession, tmp_path: Path) -> Path:
    """Folders of files by many writers, with dates and instants from the year 1 on, indexed under one time zone."""
    days = [*ANCIENT, "2024-03-10", "2024-07-01", "2262-04-11"]
    values = ", ".join(f"({i}, '{d}')" for i, d in enumerate(days))
    rows = f"""SELECT i, CAST(d AS DATE) AS day, CAST(d || ' 02:30:00' AS TIMESTAMP) AS at,
        CAST(d || ' 02:30:00' AS TIMESTAMP_NTZ) AS wall, d AS text FROM VALUES {values} AS v(i, d)"""
    for kind in ("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"):
        for mode in ("LEGACY", "CORRECTED"):
            names = {
                "spark_sql_parquet_outputTimestampType": kind,
                "spark_sql_parquet_datetimeRebaseModeInWrite": mode,
                "spark_sql_parquet_int96RebaseModeInWrite": mode,
            }
            with settings(spark, **names):
                spark.sql(rows).repartitionByRange(4, "i").write.parquet(str(tmp_path / f"{kind}_{mode}"))
    spark.sql(rows).repartitionByRange(4, "i").write.orc(str(tmp_path / "orc_"))
    foreign = tmp_path / "arrow_"
    foreign.mkdir()
    parsed = [dt.datetime.fromisoformat(f"{d}T02:30:00+00:00") for d in days]
    for n in range(5):
        several = parsed[2 * n : 2 * n + 2]
        columns = {
            "i": pa.array(range(2 * n, 2 * n + 2), pa.int32()),
            "day": pa.array([d.date() for d in several]),
            "at": pa.array(several, pa.timestamp("us", "UTC")),
            "wall": pa.array([d.replace(tzinfo=None) for d in several], pa.timestamp("us")),
            "text": pa.array(days[2 * n : 2 * n + 2]),
        }
        pq.write_table(pa.table(columns), foreign / f"{n}.parquet")
    with settings(spark, spark_sql_session_timeZone="Europe/Berlin"):
        for folder in sorted(p for p in tmp_path.iterdir() if p.is_dir() and p.name[-1] in "_YD"):
            file_format = "orc" if folder.name == "orc_" else "parquet"
            spark.sql(f"CREATE SKIPPING INDEX ON {file_format}.`{folder}`")
    return tmp_path


@pytest.mark.parametrize(
    "using",
    [
        {"spark_sql_session_timeZone": "America/Los_Angeles", "spark_sql_ansi_enabled": "false"},
        {"spark_sql_session_timeZone": "Pacific/Kiritimati", "spark_sql_parquet_datetimeRebaseModeInRead": "LEGACY"},
        {
            "spark_sql_session_timeZone": "UTC",
            "spark_sql_parquet_datetimeRebaseModeInRead": "CORRECTED",
            "spark_sql_parquet_int96RebaseModeInRead": "LEGACY",
            "spark_sql_parquet_int96TimestampConversion": "true",
        },
        {"spark_sql_timestampType": "TIMESTAMP_NTZ", "spark_sql_parquet_int96RebaseModeInRead": "CORRECTED"},
        {"spark_sql_caseSensitive": "true", "spark_sql_parquet_filterPushdown": "false"},
    ],
    ids=lambda using: "-".join(str(v) for v in using.values()).replace("/", "_"),
)
def test_settings_other_than_those_of_the_index(spark: SparkSession, instants: Path, using: dict[str, str]) -> None:
    folders = sorted(p for p in instants.iterdir() if p.is_dir() and p.name[-1] in "_YD")
    assert len(folders) == 8
    with settings(spark, **using):
        for folder in folders:
            source = f"{'orc' if folder.name == 'orc_' else 'parquet'}.`{folder}`"
            for predicate in (
                "day < DATE'1582-10-10'",
                "day = '1500-02-28'",
                "at < '1900-01-01 00:00:00'",
                "at >= TIMESTAMP'2024-03-10 02:30:00'",
                "at BETWEEN '0900-02-20' AND '0900-03-10'",
                "CAST(at AS DATE) = '2024-07-01'",
                "wall <= TIMESTAMP_NTZ'1582-10-04 02:30:00'",
                "day > text",
                "i = '3'",
                "CAST(text AS DATE) < '1600-01-01'",
            ):
                same_outcome(spark, f"SELECT i FROM {source} WHERE {predicate}")
            assert skips(spark, f"SELECT i FROM {source} WHERE i = 3")
            # ORC does not record the calendar of its dates. So two files with ancient dates have no bounds here.
            assert skips(spark, f"SELECT i FROM {source} WHERE day >= '2024-01-01'") or folder.name == "orc_"
