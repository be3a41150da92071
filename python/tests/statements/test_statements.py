"""From a plain table to fewer files read, with the Python package, on every Spark."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import pytest
from pyarrow import dataset
from pyspark_test import assert_pyspark_df_equal

from spark_zorder import ZOrderTable, explain_skipping

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.older_sparks

ROWS = 4000


def rows(spark: SparkSession) -> DataFrame:
    """Rows with nulls. Their order is independent of their columns."""
    return spark.range(ROWS).selectExpr(
        "id",
        "pmod(hash(id), 1000) AS a",
        "IF(id % 50 = 0, NULL, pmod(hash(id, 1), 997)) AS b",
        "format_string('k%04d', pmod(hash(id, 2), 500)) AS s",
        "CAST(id AS DOUBLE) / 7 AS x",
        "named_struct('day', DATE'2024-01-01' + CAST(id % 365 AS INT)) AS st",
    )


@pytest.fixture(params=["parquet", "orc"])
def file_format(request: pytest.FixtureRequest) -> str:
    """Both file formats."""
    return str(request.param)


@pytest.fixture
def folder(spark: SparkSession, tmp_path: Path, file_format: str) -> Path:
    """A folder of eight files."""
    path = tmp_path / "t"
    rows(spark).repartition(8).write.format(file_format).save(str(path))
    return path


@pytest.fixture
def table(spark: SparkSession, folder: Path, file_format: str) -> ZOrderTable:
    """The folder as a table."""
    return ZOrderTable.for_path(spark, str(folder), file_format)


def files(spark: SparkSession, folder: Path, file_format: str, predicate: str) -> tuple[int, int]:
    """The number of files kept, and of all files."""
    scans = explain_skipping(spark, f"SELECT * FROM {file_format}.`{folder}` WHERE {predicate}").df.collect()
    return sum(s["files_kept"] for s in scans), sum(s["files_total"] for s in scans)


def test_optimize_keeps_every_row_and_a_query_reads_fewer_files(
    spark: SparkSession, folder: Path, file_format: str, table: ZOrderTable
) -> None:
    assert table.optimize(["a", "b"], num_files=16).files_removed == 8
    after = spark.read.format(file_format).load(str(folder))
    assert_pyspark_df_equal(after, rows(spark), order_by="id")
    kept, total = files(spark, folder, file_format, "a = 17 AND b = 155")
    assert 8 <= total <= 24
    assert kept <= total // 4


@pytest.mark.test_rest
def test_a_dataframe_is_explained_as_its_query_is(
    spark: SparkSession, folder: Path, file_format: str, table: ZOrderTable
) -> None:
    table.optimize(["a", "b"], num_files=16)
    frame = spark.read.format(file_format).load(str(folder)).where("a = 17 AND b = 155")
    [scan] = explain_skipping(spark, frame).df.collect()
    assert (scan.files_kept, scan.files_total) == files(spark, folder, file_format, "a = 17 AND b = 155")
    assert not spark.catalog.listTables()


@pytest.mark.test_rest
def test_skipping_changes_no_answer(spark: SparkSession, folder: Path, file_format: str, table: ZOrderTable) -> None:
    table.optimize(["a", "s"], num_files=16)
    for predicate in (
        "a < 100",
        "s = 'k0007'",
        "b IS NULL",
        "a = 1 OR x > 500",
        "st.day = '2024-02-29'",
        "NOT (a > 5)",
    ):
        query = f"SELECT * FROM {file_format}.`{folder}` WHERE {predicate} ORDER BY id"
        spark.conf.set("spark.zorder.skipping.enabled", "false")
        expected = spark.sql(query).collect()
        spark.conf.set("spark.zorder.skipping.enabled", "true")
        assert spark.sql(query).collect() == expected, predicate


@pytest.mark.test_rest
def test_an_index_alone_skips_well_placed_files(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    path = tmp_path / "t"
    rows(spark).repartitionByRange(8, "id").write.format(file_format).save(str(path))
    table = ZOrderTable.for_path(spark, str(path), file_format)
    assert files(spark, path, file_format, "id = 7") == (8, 8)
    table.create_skipping_index()
    assert files(spark, path, file_format, "id = 7") == (1, 8)
    table.drop_skipping_index()
    assert files(spark, path, file_format, "id = 7") == (8, 8)


@pytest.mark.test_rest
def test_rows_of_another_writer_are_read_at_once(
    spark: SparkSession, folder: Path, file_format: str, table: ZOrderTable
) -> None:
    table.optimize(["a"], num_files=8)
    late = rows(spark).where("id < 3").selectExpr("id", "a + 1000000 AS a", "b", "s", "x", "st")
    late.coalesce(1).write.format(file_format).mode("append").save(str(folder))
    assert spark.sql(f"SELECT * FROM {file_format}.`{folder}` WHERE a >= 1000000").count() == 3
    table.refresh_skipping_index()
    assert spark.sql(f"SELECT * FROM {file_format}.`{folder}` WHERE a >= 1000000").count() == 3
    assert files(spark, folder, file_format, "a >= 1000000")[0] == 1


@pytest.mark.test_rest
def test_optimize_tells_the_files_of_a_point_lookup_before_and_after(table: ZOrderTable) -> None:
    [clustering] = table.optimize(["a"], num_files=8).metrics.clustering
    assert clustering.column == "a"
    assert clustering.meanFilesBefore > 7
    assert clustering.meanFilesAfter < 2


@pytest.mark.test_rest
def test_clustering_is_described_before_and_after(table: ZOrderTable) -> None:
    [before] = table.describe_clustering("b").collect()
    assert (before.column, before.files, before.max_files, before.bound_files) == ("b", 8, 8, 1)
    assert before.mean_files > 7
    table.optimize(["a", "b"], num_files=16)
    a, b = table.describe_clustering("a", "b").collect()
    for column, known in ((a, ROWS), (b, ROWS - ROWS // 50)):
        assert column.files == 16
        assert 3.8 < column.bound_files <= min(4, column.mean_files)
        assert abs(column.skipped_fraction - (1 - column.mean_files / 16)) < 1e-9
        assert 3.8 < column.mean_files < 4.5
        assert abs(sum(column.depth_histogram) - known) < 5
    # Without columns, it describes all columns that have an order.
    assert {row.column for row in table.describe_clustering().collect()} > {"a", "b"}


@pytest.mark.test_rest
def test_other_readers_find_the_rows(spark: SparkSession, folder: Path, file_format: str, table: ZOrderTable) -> None:
    table.optimize(["a", "b"], num_files=16)
    expected = rows(spark).selectExpr("count(*)", "sum(a)", "sum(b)", "min(s)").first()
    plain = dataset.dataset(folder, format=file_format).to_table().to_pandas()
    assert expected == (len(plain), plain["a"].sum(), plain["b"].sum(), plain["s"].min())
    if file_format == "parquet":
        query = f"SELECT count(*), sum(a), sum(b), min(s) FROM read_parquet('{folder}/*.parquet')"
        assert duckdb.connect().execute(query).fetchone() == tuple(expected)


@pytest.mark.test_rest
def test_a_catalog_table_is_a_target_too(spark: SparkSession, file_format: str) -> None:
    name = f"statements_{file_format}"
    rows(spark).repartition(8).write.format(file_format).saveAsTable(name)
    try:
        ZOrderTable(spark, name).optimize({"a": 2, "st.day": 1}, num_files=8)
        assert_pyspark_df_equal(spark.table(name), rows(spark), order_by="id")
    finally:
        spark.sql(f"DROP TABLE {name}")
