"""Other readers of Parquet open the index, and their answers agree with the rows."""

import datetime
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import duckdb
import polars as pl
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

COLUMNS = """id, CAST(id AS INT) AS i, id % 2 = 0 AS b, CAST(id AS FLOAT) / 10 AS f, CAST(id AS DOUBLE) / 10 AS d,
  concat('ü', lpad(id, 4, '0')) AS s, encode(CAST(id AS STRING), 'UTF-8') AS y,
  date_add(DATE'2024-01-01', CAST(id AS INT)) AS day,
  timestamp_micros(id * 1000003) AS t, CAST(timestamp_micros(id * 1000003) AS TIMESTAMP_NTZ) AS n,
  CAST(id AS DECIMAL(9, 2)) - 500 AS small, CAST(id AS DECIMAL(30, 2)) - 500 AS large,
  named_struct('x.y', id) AS p, IF(id < 900, NULL, id) AS late"""

CONDITIONS = [
    ("id_min <= 704 AND id_max >= 704", "id = 704"),
    ("i_min <= 704 AND i_max >= 704", "i = 704"),
    ("f_min <= CAST(70.4 AS FLOAT) AND f_max >= CAST(70.4 AS FLOAT)", "f = CAST(70.4 AS FLOAT)"),
    ("d_min <= 70.4 AND d_max >= 70.4", "d = 70.4D"),
    ("s_min <= 'ü0704' AND s_max >= 'ü0704'", "s = 'ü0704'"),
    ("y_min <= '704'::BLOB AND y_max >= '704'::BLOB", "y = X'373034'"),
    ("day_min <= DATE '2025-12-05' AND day_max >= DATE '2025-12-05'", "day = DATE'2025-12-05'"),
    ("n_min <= TIMESTAMP '1970-01-01 00:11:44' AND n_max >= TIMESTAMP '1970-01-01 00:11:44'",
     "n BETWEEN TIMESTAMP_NTZ'1970-01-01 00:11:44' AND TIMESTAMP_NTZ'1970-01-01 00:11:44'"),
    ("small_min <= -100.5 AND small_max >= -100.5", "small = -100.5"),
    ("large_min <= -100 AND large_max >= -100", "large = -100"),
    ('"p.`x.y`_min" <= 704 AND "p.`x.y`_max" >= 704', "p.`x.y` = 704"),
    ("late_nulls < rows AND late_min <= 950 AND late_max >= 950", "late = 950"),
    ("late_nulls < rows", "late IS NOT NULL"),
]  # fmt: skip


@pytest.fixture(scope="module")
def folder(spark_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("read") / "t"
    spark_session.range(1000).createOrReplaceTempView("numbers")
    spark_session.sql(f"SELECT {COLUMNS} FROM numbers").repartition(4).write.parquet(str(folder))
    spark_session.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}` (*, id VALUES)")
    spark_session.sql(f"OPTIMIZE parquet.`{folder}` ZORDER BY (id) OPTIONS ('num-files' = '10')").collect()
    spark_session.sql(f"REFRESH SKIPPING INDEX ON parquet.`{folder}`")
    return folder


def index(folder: Path) -> str:
    return str(max((folder / "_zorder").glob("*.zidx")))


@pytest.mark.parametrize(("of_index", "of_rows"), CONDITIONS, ids=[rows for _, rows in CONDITIONS])
def test_duckdb_finds_files_of_a_row(spark_session: SparkSession, folder: Path, of_index: str, of_rows: str) -> None:
    query = f"SELECT path FROM read_parquet('{index(folder)}') WHERE coalesce({of_index}, true)"
    found = {path for (path,) in duckdb.connect().execute(query).fetchall()}
    rows = spark_session.sql(f"SELECT DISTINCT _metadata.file_name AS name FROM parquet.`{folder}` WHERE {of_rows}")
    holding = {row.name for row in rows.collect()}
    assert holding <= found
    assert len(found) < 10


def test_polars_finds_files_of_a_row(folder: Path) -> None:
    may_hold = pl.lit(704).is_between("id_min", "id_max").fill_null(True)
    found = pl.scan_parquet(index(folder)).filter(may_hold).select("path").collect()["path"].to_list()
    assert any(704 in pq.read_table(folder / path)["id"].to_pylist() for path in found)
    assert len(found) < 10


def read_by_duckdb(path: str) -> dict[str, list[object]]:
    found = duckdb.connect().execute(f"SELECT * EXCLUDE (modified) FROM read_parquet('{path}')")
    names = [name for name, *_ in found.description or []]
    return dict(zip(names, map(list, zip(*found.fetchall(), strict=True)), strict=True))


READERS: dict[str, Callable[[str], dict[str, list[object]]]] = {
    "DuckDB": read_by_duckdb,
    "Polars": lambda path: pl.read_parquet(path).to_dict(as_series=False),
    "pyarrow": lambda path: pq.ParquetFile(path).read().to_pydict(),
}


@pytest.mark.parametrize("reader", READERS)
def test_readers_agree_on_what_the_index_has(folder: Path, reader: str) -> None:
    read = READERS[reader](index(folder))
    files = {p.name: p.stat() for p in folder.glob("*.parquet")}
    assert set(read["path"]) == files.keys()
    assert read["bytes"] == [files[str(path)].st_size for path in read["path"]]
    assert sum(n for n in read["rows"] if isinstance(n, int)) == 1000
    first = read["id_min"].index(0)
    assert read["b_min"][first] == 0
    assert read["b_max"][first] == 1
    assert read["s_min"][first] == "ü0000"
    assert read["day_min"][first] == datetime.date(2024, 1, 1)
    assert read["small_min"][first] == read["large_min"][first] == Decimal(-500)
    assert read["n_min"][first] == datetime.datetime(1970, 1, 1)
    assert read["late_min"][first] is None
    assert {"f_nans", "curve_low", "curve_boundaries", "written_for_text", "id_values_from"} <= read.keys()
