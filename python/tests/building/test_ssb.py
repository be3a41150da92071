"""The Star Schema Benchmark of `make ssb`: its rows follow the specification, and star and flattened table agree."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import duckdb
import pytest
from conftest import REPOSITORY

# Last, since the folder has modules with the names of installed ones.
sys.path.append(str(REPOSITORY / "bench"))

from peers.results import Figure, Part
from pyspark.sql import SparkSession
from ssb import data
from ssb.layouts import KEYS, Joined
from ssb.page import page
from ssb.queries import QUERIES, Query
from ssb.totals import BYTES, FILES, UNITS, WHOLE, shares, totals

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
def test_columns_have_the_domains_of_the_specification(
    tables: Any, table: str, asked: str, expected: tuple[object, ...]
) -> None:
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


def test_our_star_joins_each_dimension_by_its_key(tmp_path: Path) -> None:
    engine = Joined(cast("SparkSession", None), tmp_path, tmp_path, KEYS, 200)
    assert engine.layout() == (
        "JOIN customer ON lo_custkey = c_custkey JOIN supplier ON lo_suppkey = s_suppkey "
        "JOIN part ON lo_partkey = p_partkey JOIN date ON lo_orderdate = d_datekey "
        "ZORDER BY (d_year, s_region, c_region, p_mfgr)"
    )


@pytest.fixture
def part() -> Part:
    """A run in which ours read 2 of 10 files for each query, and the others read 5."""
    names = ("ours, star", "ours, flat", "delta, star", "delta, flat", "spark, star")
    made = Part("ssb", "The Star Schema Benchmark, scale 1", {"rows": "few"})
    made.figures = [Figure(f"{WHOLE}, {what}", "", {name: [10.0] for name in names}) for what in (FILES, BYTES)]
    for query in QUERIES:
        read = {name: [2.0 if name == "ours, star" else 5.0] for name in names}
        made.figures += [Figure(f"{query.name}, {what}", "", read) for what in UNITS]
    made.figures.append(Figure("OPTIMIZE of lineorder", "s", {"ours": [1.0, 2.0, 4.0], "own": [1.0]}))
    return made


def test_shares_are_of_the_files_of_each_contestant(part: Part) -> None:
    assert shares(part)["Q2.1"]["ours, star"] == 0.2
    assert totals(part)["delta, flat"].share == 0.5
    assert totals(part)["ours, star"].read == 26


def test_the_page_says_the_ratio_of_star_and_flattened_table(part: Part) -> None:
    written = page("2026-01-01", {"machine": "two cores"}, part, "ssb.svg")
    assert "Our star reads 0.40 times the share of files that our flattened table reads." in written
    assert "| spark-zorder, star | 10 | 26 | 20.0 % | 0.40 |" in written
    assert "| spark-zorder | 2 (1 to 4) |" in written
    assert "took 2.00 times as long as that without joins" in written
