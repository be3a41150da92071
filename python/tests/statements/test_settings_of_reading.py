"""Settings that decide how queries read files: statements do the same under each, by path and by name."""

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from comparison import files_read, refused, same_rows
from pyspark.sql import SparkSession

FILES = 3
START = dt.datetime(2024, 1, 1)


def write(folder: Path, file_format: str, int96: bool = False) -> pa.Schema:
    """Write files with types that settings of reading turn into others, and return their schema."""
    folder.mkdir()
    for f in range(FILES):
        numbers = range(f * 20, f * 20 + 20)
        times = [START + dt.timedelta(days=n) for n in numbers]
        columns = {
            "id": pa.array(numbers, pa.int64()),
            "raw": pa.array([b"\xff" + bytes([n]) for n in numbers], pa.binary()),
            "at": pa.array(times, pa.timestamp("ns" if file_format == "orc" or int96 else "us")),
        }
        path = folder / f"part-{f}.{file_format}"
        if file_format == "orc":
            orc.write_table(pa.table(columns), path)
        else:
            pq.write_table(pa.table(columns), path, store_schema=False, use_deprecated_int96_timestamps=int96)
    return read(folder, file_format).schema


def read(folder: Path, file_format: str) -> pa.Table:
    """The rows of the files without Spark, in order."""
    files = sorted(folder.glob(f"*.{file_format}"))
    tables = [orc.read_table(path) if file_format == "orc" else pq.read_table(path) for path in files]
    return pa.concat_tables(tables).sort_by("id")


def ended(spark: SparkSession, statement: str) -> str:
    condition, message = refused(spark, statement)
    return f"{condition}: {message}" if condition else "done"


STATEMENTS = [
    "CREATE SKIPPING INDEX ON {}",
    "OPTIMIZE {} ZORDER BY (id, at) OPTIONS ('num-files' = '2')",
    "RESTORE {} TO VERSION AS OF 0",
    "OPTIMIZE {} ORDER BY (id) OPTIONS ('num-files' = '2')",
]
MORE_STATEMENTS = [
    "REFRESH SKIPPING INDEX ON {}",
    "DESCRIBE SKIPPING INDEX ON {}",
    "DESCRIBE CLUSTERING {}",
    "DESCRIBE DETAIL {}",
    "VACUUM {} RETAIN 0 HOURS",
]
SETTINGS = {
    "spark.sql.sources.useV1SourceList": "",
    "spark.sql.orc.impl": "hive",
    "spark.sql.parquet.int96AsTimestamp": "false",
    "spark.sql.parquet.binaryAsString": "true",
    "spark.sql.parquet.inferTimestampNTZ.enabled": "false",
}
MORE_SETTINGS = {
    "spark.sql.parquet.mergeSchema": "true",
    "spark.sql.orc.mergeSchema": "true",
    "spark.sql.parquet.respectSummaryFiles": "true",
    "spark.sql.legacy.parquet.nanosAsLong": "true",
    "spark.sql.caseSensitive": "true",
    "spark.sql.sources.default": "csv",
    "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    "spark.sql.sources.parallelPartitionDiscovery.threshold": "0",
    "spark.sql.files.ignoreCorruptFiles": "true",
    "spark.sql.files.ignoreMissingFiles": "true",
    "spark.sql.files.maxPartitionBytes": "100",
    "spark.sql.legacy.pathOptionBehavior.enabled": "true",
    "spark.sql.hive.manageFilesourcePartitions": "false",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.ansi.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.parquet.enableVectorizedReader": "false",
    "spark.sql.parquet.filterPushdown": "false",
    "spark.sql.parquet.writeLegacyFormat": "true",
    "spark.sql.session.timeZone": "America/Los_Angeles",
    "spark.sql.sources.partitionOverwriteMode": "dynamic",
    "spark.sql.sources.bucketing.enabled": "false",
    "spark.sql.limit.initialNumPartitions": "1",
}
KINDS = pytest.mark.parametrize(
    ("file_format", "int96"), [("parquet", False), ("parquet", True), ("orc", False)], ids=["int64", "int96", "orc"]
)


@pytest.mark.test_rest
@KINDS
def test_statements_are_the_same_by_path_and_by_name(
    spark: SparkSession, database: Path, tmp_path: Path, file_format: str, int96: bool
) -> None:
    same_by_path_and_by_name(spark, tmp_path, file_format, int96, SETTINGS, STATEMENTS)


@pytest.mark.test_all
@KINDS
@pytest.mark.parametrize("setting", [*SETTINGS, *MORE_SETTINGS])
def test_statements_are_the_same_under_each_setting(
    spark: SparkSession, database: Path, tmp_path: Path, file_format: str, int96: bool, setting: str
) -> None:
    value = {**SETTINGS, **MORE_SETTINGS}[setting]
    same_by_path_and_by_name(spark, tmp_path, file_format, int96, {setting: value}, STATEMENTS + MORE_STATEMENTS)


def same_by_path_and_by_name(
    spark: SparkSession, work: Path, file_format: str, int96: bool, settings: dict[str, str], statements: list[str]
) -> None:
    """Check that the statements succeed and keep what two equal folders hold, one of which is a table's."""
    by_path, by_name = work / "by_path", work / "by_name"
    write(by_path, file_format, int96)
    stored = write(by_name, file_format, int96)
    rows = read(by_name, file_format)
    spark.sql(f"CREATE TABLE t USING {file_format} LOCATION '{by_name}'")
    for setting, value in settings.items():
        spark.conf.set(setting, value)
    for statement in statements:
        ends = [ended(spark, statement.format(target)) for target in (f"{file_format}.`{by_path}`", "t")]
        assert ends == ["done", "done"], statement
    for folder in (by_path, by_name):
        assert len(list(folder.glob(f"*.{file_format}"))) == 2
        assert read(folder, file_format).equals(rows)
        assert read(folder, file_format).schema.equals(stored)


@pytest.mark.test_rest
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_columns_of_a_folder_are_those_that_queries_see(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    for n, columns in enumerate((["id"], ["id", "late"])):
        frame = spark.range(n * 50, n * 50 + 50, 1, 1).selectExpr("id", "id AS late").select(*columns)
        frame.write.mode("append").format(file_format).save(str(tmp_path / "t"))
    source = f"{file_format}.`{tmp_path / 't'}`"
    setting = f"spark.sql.{file_format}.mergeSchema"
    create = f"CREATE OR REPLACE SKIPPING INDEX ON {source} (late)"
    spark.conf.set(setting, "true")
    assert ended(spark, create) == "done"
    assert len(same_rows(spark, f"SELECT * FROM {source} WHERE late = 70")) == 1
    assert files_read(spark, f"SELECT * FROM {source} WHERE late = 7") == (0, 2)
    # The statement knows the column. It does not store NULLs where a table's default may be meant.
    assert ended(spark, f"OPTIMIZE {source} FULL ORDER BY (late)").startswith("ZORDER_UNSAFE_FILES.MISSING_COLUMN")
    names = {row["column"] for row in spark.sql(f"DESCRIBE SKIPPING INDEX ON {source}").collect()}
    assert "late" in names


def test_a_folder_whose_name_looks_like_a_pattern_is_taken_by_its_name(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("a1", "a[1]"):
        write(tmp_path / name, "parquet")
    optimize = f"OPTIMIZE parquet.`{tmp_path / 'a[1]'}` ORDER BY (id) OPTIONS ('num-files' = '1')"
    assert ended(spark, optimize) == "done"
    assert [len(list((tmp_path / name).glob("*.parquet"))) for name in ("a1", "a[1]")] == [FILES, 1]


def test_a_type_that_spark_lacks_is_named_with_file_and_column(spark: SparkSession, database: Path) -> None:
    folder = database / "files"
    folder.mkdir()
    ids = pa.array(range(20), pa.int64())
    for name in ("b", "c"):
        pq.write_table(pa.table({"id": ids}), folder / f"{name}.parquet")
    # Spark takes the columns of the first file.
    span = pa.array([bytes(12)] * 20, pa.binary(12))
    _write_interval(folder / "a.parquet", pa.table({"id": ids, "span": span}))
    source = f"parquet.`{folder}`"
    before = sorted((path.name, path.stat().st_size) for path in folder.iterdir())
    for statement in (f"CREATE SKIPPING INDEX ON {source}", f"OPTIMIZE {source} ZORDER BY (id)"):
        end = ended(spark, statement)
        assert end.startswith("ZORDER_UNSUPPORTED_TARGET.UNKNOWN_TYPE"), end
        assert "a.parquet" in end
        assert "`span`" in end
        assert "Spark has no type for it" in end
    assert sorted((path.name, path.stat().st_size) for path in folder.iterdir()) == before
    # What the message says.
    spark.sql(f"CREATE TABLE t (id BIGINT) USING parquet LOCATION '{folder}'")
    assert ended(spark, "CREATE SKIPPING INDEX ON t") == "done"
    assert ended(spark, "OPTIMIZE t ZORDER BY (id)").startswith("ZORDER_UNSAFE_FILES.SCHEMA_DRIFT")
    (folder / "a.parquet").unlink()
    assert ended(spark, f"OPTIMIZE {source} ZORDER BY (id)").startswith("done")


def _write_interval(path: Path, table: pa.Table) -> None:
    """Write a file whose last column has Parquet's type INTERVAL, which pyarrow does not write."""
    pq.write_table(table, path, compression="none", store_schema=False)
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    footer = data[-8 - length : -8]
    # In Thrift's compact protocol the schema element of `span` ends after its name (field 4, a text): type
    # FIXED_LEN_BYTE_ARRAY, length 12, optional. Two bytes more give it the converted type INTERVAL (field 6).
    name = b"\x18\x04span"
    at = footer.index(name) + len(name)
    footer = footer[:at] + b"\x25\x2a" + footer[at:]
    path.write_bytes(data[: -8 - length] + footer + len(footer).to_bytes(4, "little") + b"PAR1")


@pytest.mark.test_rest
@pytest.mark.parametrize("inside", ["first", "second", "all"])
def test_a_partition_column_inside_of_files(spark: SparkSession, database: Path, tmp_path: Path, inside: str) -> None:
    folder = tmp_path / "t"
    for p in (1, 2):
        (folder / f"p={p}").mkdir(parents=True)
        for n, name in enumerate(("first", "second")):
            columns = {"id": pa.array(range(n * 10, n * 10 + 10), pa.int64())}
            if inside in (name, "all") and p == 1:
                columns["p"] = pa.array([7] * 10, pa.int64())
            pq.write_table(pa.table(columns), folder / f"p={p}" / f"{name}.parquet")
    source = f"parquet.`{folder}`"
    spark.sql(f"CREATE TABLE t (id BIGINT, p INT) USING parquet PARTITIONED BY (p) LOCATION '{folder}'")
    spark.sql("MSCK REPAIR TABLE t")
    expected = sorted((row.id, row.p) for row in spark.table("t").collect())
    options = "OPTIONS ('num-files' = '2')"
    for target in (source, "t"):
        end = ended(spark, f"OPTIMIZE {target} FULL ORDER BY (id) {options}")
        assert end.startswith("ZORDER_UNSAFE_FILES.PARTITION_COLUMN"), end
        assert "`p`" in end
    assert len(list(folder.rglob("*.parquet"))) == 4
    # The advice: by the path, partitions whose files agree.
    one = ended(spark, f"OPTIMIZE {source} FULL WHERE p = 1 ORDER BY (id) OPTIONS ('num-files' = '1')")
    assert one.split(":")[0] == ("done" if inside == "all" else "ZORDER_UNSAFE_FILES.PARTITION_COLUMN")
    assert ended(spark, f"OPTIMIZE {source} FULL WHERE p = 2 ORDER BY (id) OPTIONS ('num-files' = '1')") == "done"
    files = {path.parent.name: pq.ParquetFile(path).read() for path in folder.rglob("*.parquet")}
    assert files["p=2"].column_names == ["id"]
    if inside == "all":
        assert files["p=1"].column("p").to_pylist() == [7] * 20
    spark.sql("REFRESH TABLE t")
    assert sorted((row.id, row.p) for row in spark.table("t").collect()) == expected
