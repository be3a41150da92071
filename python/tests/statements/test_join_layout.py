"""Tables whose rows are placed by columns of other tables."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from spark_zorder import ZOrderTable, explain_skipping
from spark_zorder.errors import condition_of

SALES = (
    "SELECT CAST(id AS INT) AS id, CAST(id * 7919 % 420 AS INT) AS customer, concat('n', id) AS note FROM range({}, {})"
)


@pytest.fixture
def sales(spark: SparkSession, database: Path) -> ZOrderTable:
    """Sales to 420 customers, and a table of the first 400. Twenty customers in a row are of one city."""
    spark.sql(f"CREATE TABLE sales USING parquet AS {SALES.format(0, 4000)}")
    spark.sql(
        "CREATE TABLE customer USING parquet AS "
        "SELECT CAST(id AS INT) AS key, CAST(id / 20 AS INT) AS city, named_struct('x', id % 7) AS s FROM range(400)"
    )
    return ZOrderTable(spark, "sales")


def rows(spark: SparkSession) -> list[tuple[object, ...]]:
    return sorted(tuple(row) for row in spark.table("sales").collect())


def files_read(spark: SparkSession, condition: str) -> int | None:
    query = f"SELECT note FROM sales JOIN customer ON customer = key WHERE {condition}"
    return explain_skipping(spark, query, analyze=True).scans[0].files_kept


@pytest.mark.test_rest
def test_rows_are_placed_by_another_table(spark: SparkSession, sales: ZOrderTable) -> None:
    before = rows(spark)
    result = sales.optimize(["city"], joins={"customer": "customer = key"}, num_files=20)
    assert 16 <= result.files_added <= 25
    assert rows(spark) == before
    assert files_read(spark, "city = 7") in {1, 2, 3}
    parameters = sales.describe_history().head()["operationParameters"]  # type: ignore[index]
    assert parameters["zOrderBy"] == '["customer.city"]'
    assert parameters["joins"].endswith('.customer ON customer = key"]')


@pytest.mark.test_rest
def test_a_bare_optimize_goes_on_in_another_database(spark: SparkSession, sales: ZOrderTable) -> None:
    sales.optimize(hilbert_by={"customer.s.x": 2, "id": 1}, joins={"customer": "key = sales.customer"}, num_files=8)
    database = spark.catalog.currentDatabase()
    spark.sql(f"INSERT INTO sales {SALES.format(4000, 4300)}")
    before = rows(spark)
    spark.catalog.setCurrentDatabase("default")
    try:
        assert ZOrderTable(spark, f"{database}.sales").optimize().files_added > 0
        assert ZOrderTable(spark, f"{database}.sales").optimize().files_added == 0
    finally:
        spark.catalog.setCurrentDatabase(database)
    assert rows(spark) == before


@pytest.mark.test_rest
def test_a_folder_and_a_dimension_that_is_a_folder(spark: SparkSession, sales: ZOrderTable, database: Path) -> None:
    before = rows(spark)
    folder = ZOrderTable.for_path(spark, database / "sales", "parquet")
    result = folder.optimize(
        ["city", "id"], joins={f"parquet.`{database / 'customer'}`": "customer = key"}, num_files=9
    )
    assert result.files_added > 5
    assert folder.optimize().files_added == 0
    assert rows(spark) == before


def test_a_wrong_equality_is_told(sales: ZOrderTable) -> None:
    with pytest.raises(AnalysisException) as failed:
        sales.optimize(["city"], joins={"customer": "id = note"})
    assert condition_of(failed.value) == "ZORDER_INVALID_JOIN.CONDITION"
