"""Tables whose rows are placed by columns of other tables."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_zorder import ZOrderTable

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
