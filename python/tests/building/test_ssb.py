"""The Star Schema Benchmark of `make ssb`: its rows follow the specification, and star and flattened table agree."""

import sys
from collections.abc import Iterator
from typing import Any

import duckdb
import pytest
from conftest import REPOSITORY

# Last, since the folder has modules with the names of installed ones.
sys.path.append(str(REPOSITORY / "bench"))

from pyspark.sql import SparkSession
from ssb import data
from ssb.queries import QUERIES, Query

pytestmark = pytest.mark.test_all

SCALE = 0.01


@pytest.fixture(scope="module")
def tables(spark_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """DuckDB with the star and the flattened table, as Spark made them."""
    folder = tmp_path_factory.mktemp("ssb")
    for table, rows in data.tables(spark_session, SCALE, 2).items():
        rows.write.parquet(str(folder / table))
    star = {table: spark_session.read.parquet(str(folder / table)) for table in data.rows(SCALE)}
    data.flattened(star).write.parquet(str(folder / data.FLAT))
    connection = duckdb.connect()
    for table in (*star, data.FLAT):
        connection.sql(f"CREATE VIEW {table} AS FROM '{folder / table}/*.parquet'")
    yield connection
    connection.close()


def test_the_numbers_of_rows_are_those_of_the_specification() -> None:
    one = {"lineorder": 6_000_000, "customer": 30_000, "supplier": 2_000, "part": 200_000, "date": 2_556}
    assert data.rows(1) == one
    ten = {"lineorder": 60_000_000, "customer": 300_000, "supplier": 20_000, "part": 800_000, "date": 2_556}
    assert data.rows(10) == ten


def test_the_tables_have_as_many_rows_as_they_should(tables: Any) -> None:
    expected = data.rows(SCALE)
    expected[data.FLAT] = expected[data.STAR]
    assert {table: tables.sql(f"FROM {table}").count("*").fetchall()[0][0] for table in expected} == expected


@pytest.mark.parametrize(
    ("table", "asked", "expected"),
    [
        ("customer", "count(DISTINCT c_region), count(DISTINCT c_nation)", (5, 25)),
        ("customer", "bool_and(starts_with(c_city, rpad(left(c_nation, 9), 9, ' ')) AND length(c_city) = 10)", (True,)),
        ("part", "count(DISTINCT p_mfgr), count(DISTINCT p_category), min(p_brand1)", (5, 25, "MFGR#1101")),
        ("part", "bool_and(starts_with(p_brand1, p_category) AND starts_with(p_category, p_mfgr))", (True,)),
        ("part", "max(p_brand1), min(p_size), max(p_size)", ("MFGR#5540", 1, 50)),
        ("date", "min(d_datekey), max(d_datekey), count(DISTINCT d_datekey)", (19920101, 19981230, 2556)),
        ("date", "min(d_weeknuminyear), max(d_weeknuminyear), count(DISTINCT d_yearmonthnum)", (1, 53, 84)),
        ("date", "bool_and(d_yearmonth = left(d_month, 3) || d_year)", (True,)),
        ("lineorder", "min(lo_discount), max(lo_discount), min(lo_quantity), max(lo_quantity)", (0, 10, 1, 50)),
        ("lineorder", "min(lo_tax), max(lo_tax), max(lo_linenumber)", (0, 8, 7)),
        ("lineorder", "min(lo_orderdate), max(lo_orderdate)", (19920101, 19980802)),
        # Every 28 lines are 7 orders. The last order is cut off.
        ("lineorder", "count(DISTINCT lo_orderkey)", (15_001,)),
    ],
)
def test_columns_have_the_specified_domains(tables: Any, table: str, asked: str, expected: tuple[object, ...]) -> None:
    assert tables.sql(f"SELECT {asked} FROM {table}").fetchall() == [expected]


def test_the_total_of_an_order_is_that_of_its_lines(tables: Any) -> None:
    charged = "lo_extendedprice::BIGINT * (100 - lo_discount) * (100 + lo_tax) // 10000"
    wrong = tables.sql(
        f"SELECT lo_orderkey FROM lineorder GROUP BY 1 HAVING max(lo_ordtotalprice) <> sum({charged}) "
        "OR count(DISTINCT (lo_ordtotalprice, lo_custkey, lo_orderdate)) > 1 OR count(*) <> max(lo_linenumber)"
    )
    assert wrong.fetchall() == []


def test_the_rows_do_not_depend_on_the_number_of_files(spark: SparkSession) -> None:
    few, many = (data.tables(spark, 0.0005, files)["lineorder"] for files in (1, 7))
    assert few.collect() == many.collect()


@pytest.mark.parametrize("query", QUERIES, ids=lambda query: query.name)
def test_star_and_flattened_table_give_the_same_answer(tables: Any, query: Query) -> None:
    star, flat = (sorted(tables.sql(text).fetchall()) for text in (query.star(), query.flat()))
    assert star == flat
    # So few suppliers are in none of the cities that these ask for.
    assert bool(star) == (query.name not in ("Q3.3", "Q3.4"))
