"""All kinds of tables, names, columns, options and files that `OPTIMIZE` may meet: no row changes."""

import re
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from comparison import files_read, same_rows, settings
from golden import snapshot
from pyarrow import orc, parquet
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, Row, SparkSession

pytestmark = pytest.mark.test_all

FORMATS = pytest.mark.parametrize("file_format", ["parquet", "orc"])


def rows(frame: DataFrame) -> Counter[str]:
    """The rows as text, and how often each occurs. The text distinguishes NaN, -0.0 and null from all others."""
    return Counter(map(repr, frame.collect()))


def numbers(spark: SparkSession, count: int = 1000) -> DataFrame:
    """Rows with `id`, and with `a` and `b`, whose order is independent of it."""
    return spark.range(count).selectExpr("id", "id * 7919 % 1000 AS a", "id * 104729 % 997 AS b")


def optimize(spark: SparkSession, target: str, rest: str) -> Row:
    """Run an OPTIMIZE, check that the table has the same rows after it, and return its metrics."""
    before = rows(spark.sql(f"SELECT * FROM {target}"))
    [result] = spark.sql(f"OPTIMIZE {target} {rest}").collect()
    assert rows(spark.sql(f"SELECT * FROM {target}")) == before
    metrics: Row = result["metrics"]
    return metrics


def noise(spark: SparkSession) -> DataFrame:
    """Rows with bytes that no codec makes smaller."""
    return numbers(spark, 20000).selectExpr("*", "unhex(sha2(CAST(id AS STRING), 512)) AS noise").repartition(2)


def data_files(folder: Path) -> list[Path]:
    return sorted(p for p in folder.rglob("*.*") if p.suffix in (".parquet", ".orc") and "_zorder" not in p.parts)


# --- Names ---


@FORMATS
def test_a_folder_with_blanks_and_signs_in_its_name(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "a b" / "50%25 + ü#1"
    numbers(spark).repartition(4).write.format(file_format).save(str(folder))
    metrics = optimize(spark, f"{file_format}.`{folder}`", "ZORDER BY (a) OPTIONS ('num-files' = '5')")
    assert (metrics["numFilesRemoved"], metrics["numFilesAdded"]) == (4, 5)
    assert files_read(spark, f"SELECT * FROM {file_format}.`{folder}` WHERE a = 17") == (1, 5)
    [again] = spark.sql(f"OPTIMIZE '{folder}'").collect()
    assert again["metrics"]["totalFilesSkipped"] == 5
    assert len(data_files(folder)) == 5


# --- Partitions ---


def test_a_partition_folder_may_be_spelled_unusually(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    numbers(spark).selectExpr("*", "id % 3 AS d").repartition(2).write.partitionBy("d").parquet(str(folder))
    (folder / "d=1").rename(folder / "d=01")
    (folder / "d=2").rename(folder / "d=+2")
    numbers(spark, 50).repartition(2).write.parquet(str(folder / "d=1"))
    target = f"parquet.`{folder}`"
    assert dict(spark.sql(f"SELECT d, count(*) FROM {target} GROUP BY d").collect()) == {0: 334, 1: 383, 2: 333}
    before = snapshot(folder / "d=0")
    metrics = optimize(spark, target, "WHERE d = 1 ZORDER BY (a) OPTIONS ('num-files' = '6')")
    assert metrics["partitionsOptimized"] == 2
    assert snapshot(folder / "d=0") == before
    assert len(data_files(folder / "d=01")) + len(data_files(folder / "d=1")) == 6
    optimize(spark, target, "WHERE d >= 1 ZORDER BY (a) OPTIONS ('num-files' = '9')")
    assert snapshot(folder / "d=0") == before
    assert {path.name for path in folder.iterdir() if path.name.startswith("d=")} == {"d=0", "d=1", "d=01", "d=+2"}
    same_rows(spark, f"SELECT * FROM {target} WHERE d = 1 AND a < 300")


# --- Options ---


@FORMATS
def test_files_have_the_target_size(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "t"
    noise(spark).write.format(file_format).save(str(folder))
    size = sum(path.stat().st_size for path in data_files(folder))
    target = size // 6
    metrics = optimize(
        spark, f"{file_format}.`{folder}`", f"ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '{target}')"
    )
    assert metrics["numFilesAdded"] == 6
    assert target * 0.5 < metrics["filesAdded"]["min"]
    assert metrics["filesAdded"]["max"] < target * 1.5


def test_the_size_of_row_groups_and_the_codec_can_be_chosen(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    noise(spark).write.parquet(str(folder))
    target = f"parquet.`{folder}`"

    def codecs_and_groups() -> tuple[set[str], int]:
        footers = [parquet.ParquetFile(path).metadata for path in data_files(folder)]
        groups = [footer.row_group(g) for footer in footers for g in range(footer.num_row_groups)]
        return {group.column(0).compression for group in groups}, len(groups)

    before = codecs_and_groups()[0]
    optimize(spark, target, "ZORDER BY (a) OPTIONS ('num-files' = '2')")
    assert codecs_and_groups() == (before, 2)
    optimize(
        spark,
        target,
        "FULL ZORDER BY (a) OPTIONS ('num-files' = '2', 'row-group-size-bytes' = '100000', 'compression' = 'zstd')",
    )
    codecs, groups = codecs_and_groups()
    assert codecs == {"ZSTD"}
    assert groups >= 8
    # The existing files decide the codec of new files.
    optimize(spark, target, "FULL ZORDER BY (a) OPTIONS ('num-files' = '2')")
    assert codecs_and_groups()[0] == {"ZSTD"}


def test_the_codec_of_orc_can_be_chosen(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    numbers(spark, 5000).repartition(2).write.option("compression", "zlib").orc(str(folder))
    target = f"orc.`{folder}`"
    for option, expected in (("", "ZLIB"), (", 'compression' = 'snappy'", "SNAPPY"), ("", "SNAPPY")):
        optimize(spark, target, f"FULL ZORDER BY (a) OPTIONS ('num-files' = '2'{option})")
        assert {str(orc.ORCFile(path).compression).upper() for path in data_files(folder)} == {expected}


# --- Files with different schemas ---


def test_a_default_with_microseconds_stays_in_a_session_of_milliseconds(spark: SparkSession, database: Path) -> None:
    numbers(spark).repartition(3).write.saveAsTable("t")
    spark.sql("ALTER TABLE t ADD COLUMN (at TIMESTAMP DEFAULT TIMESTAMP '2026-11-23 01:02:03.456789')")
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
    before = spark.table("t").select("at").distinct().collect()
    optimize(spark, "t", "ZORDER BY (a) OPTIONS ('num-files' = '2')")
    assert spark.table("t").select("at").distinct().collect() == before


@pytest.mark.parametrize(
    ("setting", "column", "refused"),
    [
        ("spark.sql.parquet.binaryAsString", pa.array([b"\xff\xfe", b"\xc3", None] * 20, pa.binary()), False),
        ("spark.sql.parquet.int96TimestampConversion", pa.array([1000, 10**15, None] * 20, pa.timestamp("ns")), True),
    ],
    ids=["binaryAsString", "int96TimestampConversion"],
)
def test_what_a_setting_of_the_reader_turns_into_something_else_is_not_written_back(
    spark: SparkSession, tmp_path: Path, setting: str, column: pa.Array, refused: bool
) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    for n in range(3):
        file = pa.table({"a": pa.array(range(60), pa.int32()), "b": column})
        parquet.write_table(file, folder / f"{n}.parquet", use_deprecated_int96_timestamps=True, store_schema=False)
    before = snapshot(folder)
    stored = parquet.read_schema(folder / "0.parquet").field("b").type
    statement = f"OPTIMIZE parquet.`{folder}` ZORDER BY (a) OPTIONS ('num-files' = '2')"
    spark.conf.set(setting, "true")
    if refused:
        with pytest.raises(AnalysisException, match=rf"0\.parquet .* column b: .*{re.escape(setting)}") as error:
            spark.sql(statement)
        assert error.value.getCondition() == "ZORDER_UNSAFE_FILES.SCHEMA_DRIFT"
        assert snapshot(folder) == before
        spark.conf.set(setting, "false")
    spark.sql(statement)
    files = [parquet.read_table(path, partitioning=None) for path in data_files(folder)]
    assert len(files) == 2
    assert {file.schema.field("b").type for file in files} == {stored}
    assert Counter(v for file in files for v in file["b"].to_pylist()) == Counter(column.to_pylist() * 3)


@pytest.mark.parametrize("mode", ["LEGACY", "CORRECTED"])
@pytest.mark.parametrize("kind", ["INT96", "TIMESTAMP_MICROS"])
def test_days_of_the_julian_calendar_stay_the_same(spark: SparkSession, tmp_path: Path, mode: str, kind: str) -> None:
    folder = tmp_path / "t"
    writing = {
        "spark_sql_parquet_outputTimestampType": kind,
        "spark_sql_parquet_datetimeRebaseModeInWrite": mode,
        "spark_sql_parquet_int96RebaseModeInWrite": mode,
    }
    with settings(spark, **writing):
        numbers(spark).selectExpr(
            "id",
            "a",
            "DATE'0900-01-01' + CAST(a * 400 AS INT) AS day",
            "TIMESTAMP'0900-01-01 01:02:03' + make_dt_interval(CAST(a * 400 AS INT)) AS ts",
        ).repartition(2).write.parquet(str(folder))
    target = f"parquet.`{folder}`"
    optimize(spark, target, "ZORDER BY (day, ts) OPTIONS ('num-files' = '6')")
    for where in ("day < DATE'1000-01-01'", "ts < TIMESTAMP'1000-01-01'", "day BETWEEN '1582-01-01' AND '1583-01-01'"):
        assert same_rows(spark, f"SELECT * FROM {target} WHERE {where}")
