"""OPTIMIZE keeps metadata and settings of files. Compares the footers of its outputs with those of its inputs."""

import json
import random
import struct
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

NUMBERS = [i * 7919 % 101 for i in range(60)]


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def arrow_rows(folder: Path) -> Counter[str]:
    return Counter(repr(row) for f in files(folder) for row in parquet.ParquetFile(f).read().to_pylist())


def rows(spark: SparkSession, folder: Path) -> Counter[str]:
    return Counter(map(repr, spark.read.parquet(str(folder)).collect()))


def optimize(spark: SparkSession, folder: Path, column: str, options: str = "") -> str:
    """Run OPTIMIZE, and check the rows with Spark, Arrow and DuckDB. Returns what the history lists as not kept."""
    before = (rows(spark, folder), arrow_rows(folder), duck_rows(folder))
    spark.sql(f"OPTIMIZE parquet.`{folder}` FULL ZORDER BY ({column}) OPTIONS ('num-files' = '2'{options})").collect()
    assert len(files(folder)) == 2
    assert (rows(spark, folder), arrow_rows(folder), duck_rows(folder)) == before
    found = spark.read.parquet(str(folder)).where(f"{column} = 7")
    kept = Counter(map(repr, found.collect()))
    spark.conf.set("spark.zorder.skipping.enabled", "false")
    assert Counter(map(repr, spark.read.parquet(str(folder)).where(f"{column} = 7").collect())) == kept
    spark.conf.set("spark.zorder.skipping.enabled", "true")
    last = spark.sql(f"DESCRIBE HISTORY parquet.`{folder}`").orderBy("version").collect()[-1]
    return str(last["operationMetrics"].get("notKept", ""))


def duck_rows(folder: Path) -> Counter[str]:
    return Counter(map(repr, duckdb.execute(f"SELECT * FROM read_parquet('{folder}/*.parquet')").fetchall()))


def write(folder: Path, tables: list[pa.Table], **options: Any) -> list[parquet.FileMetaData]:
    """Write one file for each table. Returns the footers."""
    folder.mkdir()
    for i, table in enumerate(tables):
        parquet.write_table(table, folder / f"in-{i}.parquet", **options)
    return [parquet.read_metadata(f) for f in files(folder)]


def schemas(folder: Path) -> set[str]:
    """The columns in the footers: names, ids, types, and whether they are required."""
    return {str(parquet.ParquetFile(f).schema).split("\n", 1)[1] for f in files(folder)}


def metadata(folder: Path) -> dict[bytes, bytes]:
    """The key-value metadata that all files share, without Spark's own."""
    [first, *others] = [parquet.read_metadata(f).metadata or {} for f in files(folder)]
    assert all(first == other for other in others)
    return {k: v for k, v in first.items() if not k.startswith(b"org.apache.spark")}


def halves(table: pa.Table) -> list[pa.Table]:
    return [table.slice(0, 30), table.slice(30)]


def test_units_types_and_required_columns_of_arrow_stay(spark: SparkSession, tmp_path: Path) -> None:
    millis = [1_600_000_000_000 + i for i in range(60)]
    schema = pa.schema(
        [
            pa.field("a", pa.int32(), nullable=False, metadata={"PARQUET:field_id": "7"}),
            pa.field("ms", pa.timestamp("ms")),
            pa.field("us", pa.timestamp("us", tz="UTC")),
            pa.field("utc", pa.timestamp("ms", tz="UTC")),
            pa.field("d", pa.decimal128(9, 2)),
            pa.field("u8", pa.uint8()),
            pa.field("u32", pa.uint32()),
            pa.field("fixed", pa.binary(3)),
            pa.field("tags", pa.list_(pa.field("element", pa.string(), nullable=False))),
            pa.field("S", pa.struct([pa.field("X", pa.timestamp("ms"), nullable=False)])),
            pa.field("m", pa.map_(pa.string(), pa.timestamp("ms"))),
        ],
        metadata={"note": "of the user", "org.apache.spark.legacyDateTime": ""},
    )
    table = pa.table(
        [
            NUMBERS,
            millis,
            millis,
            millis,
            [Decimal(i - 30) / 4 for i in range(60)],
            [i % 256 for i in range(60)],
            [2**32 - 1 - i for i in range(60)],
            [b"abc"] * 60,
            [["x"] * (i % 3) if i % 5 else None for i in range(60)],
            [{"X": t} if t % 3 else None for t in millis],
            [[("k", t)] if t % 2 else [] for t in millis],
        ],
        schema=schema,
    )
    folder = tmp_path / "arrow"
    write(folder, halves(table), store_decimal_as_integer=False)
    before, kept = schemas(folder), metadata(folder)
    arrow = parquet.ParquetFile(files(folder)[0]).schema_arrow
    assert optimize(spark, folder, "a") == ""
    assert schemas(folder) == before
    after = metadata(folder)
    assert after[b"note"] == b"of the user"
    assert set(after) == set(kept)
    for f in files(folder):
        found = parquet.ParquetFile(f).schema_arrow
        assert found.metadata == {b"note": b"of the user"}
        assert found.equals(arrow.with_metadata(found.metadata), check_metadata=True)
    # A second round reads our own files, and keeps everything again. Spark reads plain values in a different way.
    spark.conf.set("parquet.enable.dictionary", "false")
    assert optimize(spark, folder, "u32") == ""
    assert schemas(folder) == before


def test_pandas_metadata_says_nothing_of_ranges_of_rows(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "pandas"
    folder.mkdir()
    for i, count in enumerate([20, 40]):
        frame = pd.DataFrame({"ID": NUMBERS[:count], "c": pd.Categorical(["x", "y"] * (count // 2))})
        frame.to_parquet(folder / f"in-{i}.parquet")
    before = pd.concat([pd.read_parquet(f) for f in files(folder)])
    assert "RangeIndex" not in optimize(spark, folder, "ID")
    for f in files(folder):
        of_pandas = json.loads(parquet.read_metadata(f).metadata[b"pandas"])
        assert of_pandas["index_columns"] == []
        of_arrow = json.loads(parquet.read_schema(f).metadata[b"pandas"])
        assert of_arrow == of_pandas
        assert [c["name"] for c in of_pandas["columns"]] == ["ID", "c"]
        assert pd.read_parquet(f)["c"].dtype == "category"
    after = pd.concat([pd.read_parquet(f) for f in files(folder)])
    assert sorted(after["ID"]) == sorted(before["ID"])


def test_an_index_of_pandas_stays_and_lost_labels_are_reported(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "pandas"
    folder.mkdir()
    for i in range(2):
        values = NUMBERS[i * 30 : i * 30 + 30]
        pd.DataFrame({"a": values}, index=pd.Index([f"k{v}" for v in values], name="key")).to_parquet(
            folder / f"in-{i}.parquet"
        )
    assert optimize(spark, folder, "a") == ""
    assert all(pd.read_parquet(f).index.name == "key" for f in files(folder))

    labelled = tmp_path / "labelled"
    labelled.mkdir()
    for i in range(2):
        frame = pd.DataFrame({"a": NUMBERS[:30]}, index=pd.RangeIndex(i * 30, i * 30 + 30))
        frame.to_parquet(labelled / f"in-{i}.parquet")
    lost = optimize(spark, labelled, "a")
    assert "`pandas` (labels of a RangeIndex)" in lost
    assert "ARROW:schema" not in lost


def test_geoparquet_is_kept_without_boxes(spark: SparkSession, tmp_path: Path) -> None:
    def geo(box: list[float], kind: str) -> dict[str, str]:
        column = {"encoding": "WKB", "geometry_types": [kind], "bbox": box, "crs": {"id": "OGC:CRS84"}}
        return {"geo": json.dumps({"version": "1.1.0", "primary_column": "g", "columns": {"g": column}})}

    point = struct.pack("<bIdd", 1, 1, 0.5, 0.75)
    table = pa.table({"a": NUMBERS, "g": [point] * 60})
    [one, two] = halves(table)
    folder = tmp_path / "geo"
    write(
        folder,
        [
            one.replace_schema_metadata(geo([0.0, 0.0, 2.0, 1.0], "Point")),
            two.replace_schema_metadata(geo([-5.0, 0.5, 1.0, 3.0], "Polygon")),
        ],
    )
    assert "`geo` (boxes and kinds of geometries)" in optimize(spark, folder, "a")
    column = json.loads(metadata(folder)[b"geo"])["columns"]["g"]
    assert column == {"encoding": "WKB", "geometry_types": [], "crs": {"id": "OGC:CRS84"}}
    assert parquet.read_schema(files(folder)[0]).metadata[b"geo"] == metadata(folder)[b"geo"]


def test_what_differs_is_reported(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "differing"
    [one, two] = halves(pa.table({"a": NUMBERS, "t": pa.array(range(60), pa.timestamp("ms"))}))
    finer = two.set_column(1, "t", two["t"].cast(pa.timestamp("us")))
    folder.mkdir()
    parquet.write_table(
        one.replace_schema_metadata({"note": "1", "row_count": "30", "both": "x"}),
        folder / "in-0.parquet",
        compression="zstd",
    )
    parquet.write_table(
        finer.replace_schema_metadata({"note": "2", "row_count": "30", "both": "x"}), folder / "in-1.parquet"
    )
    lost = optimize(spark, folder, "a")
    assert "timestamp unit (milliseconds → microseconds) of `t`" in lost
    assert "`note` (the files differ)" in lost
    assert "`row_count` (it is about one file)" in lost
    assert "`ARROW:schema` (the new files have another schema)" in lost
    assert "compression (the files have snappy, zstd)" in lost
    assert set(metadata(folder)) == {b"both"}


def test_bloom_filters_and_pages_of_the_inputs_stay(spark: SparkSession, tmp_path: Path) -> None:
    table = pa.table({"a": NUMBERS, "Name": [f"n{i}" for i in range(60)], "c": [f"c{i}" for i in range(60)]})
    folder = tmp_path / "bloom"
    before = write(
        folder,
        halves(table),
        bloom_filter_options={"Name": True},
        data_page_version="2.0",
        compression="gzip",
        use_dictionary=False,
        column_encoding={"a": "DELTA_BINARY_PACKED", "Name": "DELTA_BYTE_ARRAY", "c": "PLAIN"},
    )
    assert before[0].row_group(0).column(1).bloom_filter_offset is not None
    # A column in a dictionary gets no filter, because readers use the dictionary.
    spark.conf.set("parquet.enable.dictionary", "false")
    assert optimize(spark, folder, "a") == ""
    for f in files(folder):
        columns = [parquet.read_metadata(f).row_group(0).column(i) for i in range(3)]
        assert [c.path_in_schema for c in columns if c.bloom_filter_offset is not None] == ["Name"]
        assert {c.compression for c in columns} == {"GZIP"}
        # Only pages of version 2 of parquet-java contain these.
        assert "DELTA_BINARY_PACKED" in columns[0].encodings
    assert optimize(spark, folder, "a", ", 'bloom-filter-columns' = 'none'") == ""
    for f in files(folder):
        assert parquet.read_metadata(f).row_group(0).column(1).bloom_filter_offset is None


def copied(spark: SparkSession, folder: Path, to: Path) -> None:
    """Copy a folder by Hadoop, which writes a file of checksums beside each file."""
    jvm: Any = spark._jvm
    conf = spark._jsc.hadoopConfiguration()
    paths = [jvm.org.apache.hadoop.fs.Path(str(p)) for p in (folder, to)]
    system = paths[0].getFileSystem(conf)
    jvm.org.apache.hadoop.fs.FileUtil.copy(system, paths[0], system, paths[1], False, conf)
    assert list(to.glob(".*.crc"))


def differences(folder: Path, version: str, compression: str) -> None:
    """Write two files with byte strings that are encoded as differences."""
    # Twelve random bytes do not get shorter, so Arrow leaves their pages without compression.
    generator = random.Random(1)
    table = pa.table({"a": range(2000), "t": [f"{i * 7919 % 2003}" for i in range(2000)]}).append_column(
        "b", pa.array([generator.randbytes(12) for _ in range(2000)])
    )
    write(
        folder,
        halves(table),
        data_page_version=version,
        compression=compression,
        use_dictionary=False,
        column_encoding={"a": "PLAIN", "t": "DELTA_BYTE_ARRAY", "b": "DELTA_BYTE_ARRAY"},
    )


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "zstd"])
@pytest.mark.parametrize("option", ["", ", 'compression' = 'none'"])
def test_delta_bytes_stay(spark: SparkSession, tmp_path: Path, version: str, compression: str, option: str) -> None:
    differences(tmp_path / "made", version, compression)
    before = arrow_rows(tmp_path / "made")
    # Beside checksums, Spark's vectorized reader misreads such pages.
    copied(spark, tmp_path / "made", tmp_path / "t")
    spark.sql(f"OPTIMIZE parquet.`{tmp_path / 't'}` ZORDER BY (a) OPTIONS ('num-files' = '2'{option})").collect()
    assert arrow_rows(tmp_path / "t") == before
    copied(spark, tmp_path / "t", tmp_path / "again")
    assert arrow_rows(tmp_path / "again") == before
    read = spark.read.parquet(str(tmp_path / "again")).collect()
    assert Counter(repr({**r.asDict(), "b": bytes(r.b)}) for r in read) == before


@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_values_of_delta_bytes_are_indexed(spark: SparkSession, tmp_path: Path, version: str, compression: str) -> None:
    differences(tmp_path / "made", version, compression)
    copied(spark, tmp_path / "made", tmp_path / "t")
    target = f"parquet.`{tmp_path / 't'}`"
    spark.sql(f"CREATE SKIPPING INDEX ON {target} (t VALUES, b VALUES)").collect()
    spark.conf.set("spark.sql.parquet.enableVectorizedReader", "false")
    for [t, b] in spark.sql(f"SELECT t, hex(b) FROM {target} WHERE a % 100 = 1").collect():
        assert spark.sql(f"SELECT a FROM {target} WHERE t = '{t}'").count() == 1
        assert spark.sql(f"SELECT a FROM {target} WHERE b = X'{b}'").count() == 1


def test_files_of_duckdb_keep_their_types(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "duck"
    folder.mkdir()
    for i in range(2):
        duckdb.sql(
            f'COPY (SELECT (i * 7919 % 101)::INTEGER AS "A", i::UTINYINT AS u8, i::UINTEGER AS u32, i::SMALLINT AS s, '
            f"(i / 4)::DECIMAL(7, 2) AS d7, (i / 4)::DECIMAL(18, 3) AS d18, i::DECIMAL(30, 1) AS d30, "
            f"make_timestamp_ms(1600000000000 + i)::TIMESTAMP_MS AS ms, [i, i + 1] AS l, {{'X': i}} AS s1, "
            f"MAP {{'k': i}} AS m FROM range({i * 30}, {i * 30 + 30}) t(i)) "
            f"TO '{folder}/in-{i}.parquet' (FORMAT parquet, KV_METADATA {{note: 'mine'}})"
        )
    before = schemas(folder)
    assert optimize(spark, folder, "A") == ""
    assert schemas(folder) == before
    assert metadata(folder)[b"note"] == b"mine"


def test_spark_s_own_keys_are_those_of_the_writer(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "legacy"
    spark.conf.set("spark.sql.parquet.datetimeRebaseModeInWrite", "LEGACY")
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
    spark.range(60).selectExpr(
        "CAST(id * 7919 % 101 AS INT) AS a", "DATE'0900-01-01' + CAST(id AS INT) AS d", "timestamp_seconds(id) AS t"
    ).repartition(2).write.parquet(str(folder))
    spark.conf.set("spark.sql.parquet.datetimeRebaseModeInWrite", "CORRECTED")
    old = parquet.read_metadata(files(folder)[0]).metadata
    assert b"org.apache.spark.legacyDateTime" in old
    before = rows(spark, folder)
    spark.sql(f"OPTIMIZE parquet.`{folder}` FULL ZORDER BY (a) OPTIONS ('num-files' = '2')").collect()
    assert rows(spark, folder) == before
    for f in files(folder):
        new = parquet.read_metadata(f).metadata
        assert b"org.apache.spark.legacyDateTime" not in new
        assert b"org.apache.spark.timeZone" not in new
        assert b"org.apache.spark.sql.parquet.row.metadata" in new
        assert "milliseconds" in str(parquet.ParquetFile(f).schema)


@pytest.mark.parametrize("element", ["id", "named_struct('x', id)"])
def test_lists_of_two_levels_beside_others(spark: SparkSession, tmp_path: Path, element: str) -> None:
    """They become lists of three levels. If Spark reads them as another type, the statement is refused."""
    folder = tmp_path / "mixed"
    numbers = spark.range(60).selectExpr("CAST(id * 7919 % 101 AS INT) AS a", f"array({element}) AS l", "id")
    spark.conf.set("spark.sql.parquet.writeLegacyFormat", "true")
    numbers.coalesce(1).write.parquet(str(folder))
    spark.conf.unset("spark.sql.parquet.writeLegacyFormat")
    numbers.selectExpr("a", "array(id) AS l", "id").coalesce(1).write.mode("append").parquet(str(folder))
    if element == "id":
        assert optimize(spark, folder, "a") == "list encoding of `l`"
        assert all(" group field_id=-1 list {" in schema for schema in schemas(folder))
        assert optimize(spark, folder, "a") == ""
    else:
        before = [f.name for f in files(folder)]
        with pytest.raises(AnalysisException, match=r"SCHEMA_DRIFT.* column l\.element: .* by hand"):
            spark.sql(f"OPTIMIZE parquet.`{folder}` ZORDER BY (a)").collect()
        assert [f.name for f in files(folder)] == before


def test_columns_of_nothing_stay(spark: SparkSession, tmp_path: Path) -> None:
    if spark.version < "4.3":
        pytest.skip("Spark writes VOID into Parquet since 4.3")
    folder = tmp_path / "void"
    spark.range(60).selectExpr(
        "id", "NULL AS n", "named_struct('x', NULL, 'y', id) AS s", "array(NULL) AS l", "map(id, NULL) AS m"
    ).repartition(3).write.parquet(str(folder))
    types = spark.read.parquet(str(folder)).dtypes
    before = schemas(folder)
    assert ("n", "void") in types
    for _ in range(2):
        spark.sql(f"OPTIMIZE parquet.`{folder}` FULL ZORDER BY (id) OPTIONS ('num-files' = '2')").collect()
        assert schemas(folder) == before
        assert spark.read.parquet(str(folder)).dtypes == types
    found = spark.read.parquet(str(folder)).collect()
    assert len(found) == 60
    assert all(row.n is None and row.m == {row.id: None} and row.l == [None] for row in found)
    for row in spark.sql(f"DESCRIBE HISTORY parquet.`{folder}`").collect():
        assert "notKept" not in (row["operationMetrics"] or {})
