"""Files whose footers say less or other than what Spark reads, and values that Spark shows as they are not stored."""

from pathlib import Path

import duckdb
import pyarrow as pa
import pytest
from comparison import no_skipping, settings
from pyarrow import parquet
from pyspark.sql import SparkSession


def signed_by(file: Path, writer: str, *, bounds: tuple[bytes, bytes] | None = None) -> None:
    """Change the writer that the footer of pyarrow's file names, and the bytes of a bound, to others of that length."""
    content = file.read_bytes()
    footer = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    changed = content[footer:]
    own = parquet.read_metadata(file).created_by.encode()
    assert own in changed
    changed = changed.replace(own, writer.encode().ljust(len(own)))
    if bounds:
        assert bounds[0] in changed
        assert len(bounds[0]) == len(bounds[1])
        changed = changed.replace(*bounds)
    file.write_bytes(content[:footer] + changed)


def ids(spark: SparkSession, text: str) -> list[int]:
    return sorted(row.id for row in spark.sql(text).collect())


def assert_same(spark: SparkSession, text: str, expected: list[int]) -> None:
    with no_skipping(spark):
        assert ids(spark, text) == expected, text
    assert ids(spark, text) == expected, text


@pytest.mark.test_rest
@pytest.mark.parametrize(
    "condition",
    [
        "s.t IS NULL",
        "NOT (s.t <=> TIMESTAMP_NTZ'2024-01-02 00:00:00')",
        "CAST(s.a AS BIGINT) IS NULL",
        "s.a + 1 IS NULL",
    ],
)
def test_null_structs_of_duckdb(spark: SparkSession, tmp_path: Path, condition: str) -> None:
    struct = "CASE WHEN i % 4 = 0 THEN NULL ELSE {'t': TIMESTAMP '2024-01-02', 'a': i::INT} END"
    with duckdb.connect() as duck:
        duck.execute(f"COPY (SELECT i AS id, {struct} AS s FROM range(8) r(i)) TO '{tmp_path}/f.parquet'")
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{tmp_path}`")
    assert_same(spark, f"SELECT id FROM parquet.`{tmp_path}` WHERE {condition}", [0, 4])


@pytest.mark.test_rest
@pytest.mark.parametrize("form", ["parquet", "orc"])
def test_blanks_of_spark_are_not_in_the_bounds(spark: SparkSession, database: Path, tmp_path: Path, form: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, c CHAR(8)) USING {form} LOCATION '{tmp_path}/t'")
    if form == "parquet":
        (tmp_path / "t").mkdir()
        # Without statistics the rows are read for the index.
        table = pa.table({"id": [1], "c": ["ab"]})
        parquet.write_table(table, tmp_path / "t" / "f.parquet", write_statistics=False)
        spark.sql("REFRESH TABLE t")
    else:
        spark.sql("INSERT INTO t VALUES (1, 'ab')")
    spark.sql("CREATE SKIPPING INDEX ON t")
    assert_same(spark, "SELECT id FROM t WHERE c = 'ab'", [1])
    with settings(spark, spark_sql_readSideCharPadding="false"):
        assert_same(spark, "SELECT id FROM t WHERE c LIKE 'ab%'", [1])
        assert_same(spark, "SELECT id FROM t WHERE trim(c) = 'ab'", [1])
    assert_same(spark, f"SELECT id FROM {form}.`{tmp_path}/t` WHERE trim(c) = 'ab'", [1])
    if form == "parquet":
        assert_same(spark, f"SELECT id FROM parquet.`{tmp_path}/t` WHERE c = 'ab'", [1])


@pytest.mark.test_rest
def test_a_char_field_of_a_struct_can_be_indexed(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    struct = pa.array([{"a": 1, "b": "x"}], pa.struct([("a", pa.int32()), ("b", pa.string())]))
    (tmp_path / "t").mkdir()
    table = pa.table({"id": [1], "s": struct})
    parquet.write_table(table, tmp_path / "t" / "f.parquet", write_statistics=["id", "s.a"])
    spark.sql(f"CREATE TABLE t (id BIGINT, s STRUCT<a: INT, b: CHAR(5)>) USING parquet LOCATION '{tmp_path}/t'")
    spark.sql("CREATE SKIPPING INDEX ON t")
    assert_same(spark, "SELECT id FROM t WHERE trim(s.b) = 'x'", [1])


@pytest.mark.test_rest
def test_bounds_in_the_order_of_javascript(spark: SparkSession, tmp_path: Path) -> None:
    """JavaScript compares UTF-16 units: it takes U+1F600 for less than U+FF5E."""
    file = tmp_path / "f.parquet"
    parquet.write_table(pa.table({"id": [1, 2, 3], "c": ["a", "\uff5ea", "\U0001f600"]}), file, store_schema=False)
    signed_by(file, "hyparquet", bounds=("\U0001f600".encode(), "\uff5ea".encode()))
    assert parquet.read_metadata(file).row_group(0).column(1).statistics.max == "\uff5ea"
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{tmp_path}`")
    condition = "substring(c, 1, 1) = '\U0001f600'"
    assert_same(spark, f"SELECT id FROM parquet.`{tmp_path}` WHERE {condition}", [3])


@pytest.mark.test_rest
def test_bounds_of_other_pages(spark: SparkSession, tmp_path: Path) -> None:
    """Polars once stored a maximum below the largest value, and parquet-go the bytes of another page."""
    file = tmp_path / "f.parquet"
    parquet.write_table(pa.table({"id": [1, 2, 300_000]}), file, store_schema=False, compression="none")
    largest, other = (n.to_bytes(8, "little") for n in (300_000, 200_000))
    signed_by(file, "Arrow2 - Native Rust", bounds=(largest, other))
    assert parquet.read_metadata(file).row_group(0).column(0).statistics.max == 200_000
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{tmp_path}`")
    assert_same(spark, f"SELECT id FROM parquet.`{tmp_path}` WHERE id + 1 = 300001", [300_000])


@pytest.mark.test_rest
def test_bounds_that_were_copied_into_a_file_of_parquet_java(spark: SparkSession, tmp_path: Path) -> None:
    """Its rewriter copies chunks with their statistics, which say nothing of NaN, and names their writer in a key."""
    table = pa.table({"id": [1, 2], "x": [1.0, float("nan")]})
    file = tmp_path / "f.parquet"
    parquet.write_table(table.replace_schema_metadata({"original.created.by": "parquet-cpp-arrow"}), file)
    signed_by(file, "parquet-mr version 1.13.1")
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{tmp_path}`")
    assert_same(spark, f"SELECT id FROM parquet.`{tmp_path}` WHERE isnan(x)", [2])


@pytest.mark.parametrize("writer", [None, "DuckDB", "parquet-rs version 55.0.0", "unknown"])
def test_null_structs_above_dictionaries_are_uncounted(spark: SparkSession, tmp_path: Path, writer: str | None) -> None:
    words = pa.array(["a", "b", "a", "b"]).dictionary_encode()
    for n, nulls in enumerate(([True, False, False, True], [False] * 4)):
        struct = pa.StructArray.from_arrays([words], names=["d"], mask=pa.array(nulls))
        parquet.write_table(pa.table({"id": range(4 * n, 4 * n + 4), "s": struct}), tmp_path / f"{n}.parquet")
    claimed = parquet.read_metadata(tmp_path / "0.parquet").row_group(0).column(1).statistics.null_count
    assert claimed == 0, "pyarrow counts them now: the test has lost its subject"
    if writer:
        # Any other writer may count like this.
        for n in range(2):
            signed_by(tmp_path / f"{n}.parquet", writer)
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{tmp_path}`")
    # Spark's own reader believes the footer.
    with settings(spark, spark_sql_parquet_filterPushdown="false"):
        for condition in ("s IS NULL", "s.d IS NULL"):
            assert ids(spark, f"SELECT id FROM parquet.`{tmp_path}` WHERE {condition}") == [0, 3], condition
