"""INSERT sorts what it writes along the table's layout, in each file, if the table asks for it."""

from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from comparison import settings
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual

ROWS = 2000


def shuffled(spark: SparkSession, rows: int = ROWS) -> DataFrame:
    """Two keys of 64 values, in no order, in two tasks; a partition column with an empty string; the row's number."""
    return spark.range(0, rows, 1, 2).selectExpr(
        "hash(id) & 63 AS a",
        "hash(id, 1) & 63 AS b",
        "id",
        "element_at(array('', 'x', 'y'), CAST(id % 3 + 1 AS INT)) AS p",
    )


def place(spark: SparkSession, table: str) -> Path:
    found = spark.sql(f"DESCRIBE EXTENDED {table}").filter("col_name = 'Location'").first()
    assert found is not None
    return Path(found["data_type"].removeprefix("file:"))


def files(spark: SparkSession, table: str) -> list[list[dict[str, int]]]:
    """The rows of each file of a table, in the order in which they are in the file."""
    found = [f for f in sorted(place(spark, table).rglob("*.parquet")) if "_zorder" not in f.parts]
    return [pq.ParquetFile(f).read(columns=["a", "b", "id"]).to_pylist() for f in found]


def interleaved(row: dict[str, int]) -> int:
    """The place of a row on a Z-order curve of `a` and `b`, bit by bit."""
    return sum(((row["a"] >> i & 1) << (2 * i + 1)) | ((row["b"] >> i & 1) << (2 * i)) for i in range(6))


def is_sorted(rows: list[dict[str, int]], key: Callable[[dict[str, int]], object] = interleaved) -> bool:
    return rows == sorted(rows, key=key)  # type: ignore[arg-type]


def create(spark: SparkSession, name: str, properties: str, more: str = "") -> None:
    spark.sql(f"DROP TABLE IF EXISTS {name}")
    spark.sql(f"CREATE TABLE {name} (a INT, b INT, id BIGINT, p STRING) USING parquet {more} {properties}")


BY = "TBLPROPERTIES ('zorder.optimize.by' = 'a, b', 'zorder.write.order' = 'local')"

WRITES: dict[str, Callable[[SparkSession, str], object]] = {
    "INSERT INTO": lambda spark, t: spark.sql(f"INSERT INTO {t} SELECT * FROM rows"),
    "INSERT OVERWRITE": lambda spark, t: spark.sql(f"INSERT OVERWRITE {t} SELECT * FROM rows"),
    "insertInto": lambda spark, t: spark.table("rows").write.insertInto(t),
    "saveAsTable": lambda spark, t: spark.table("rows").write.mode("append").format("parquet").saveAsTable(t),
    "by position": lambda spark, t: spark.sql(f"INSERT INTO {t} SELECT a AS q, b AS r, id AS a, p FROM rows"),
}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("overwrite", ["static", "dynamic"])
def test_rows_of_each_file_are_along_the_curve(spark: SparkSession, write: str, overwrite: str) -> None:
    shuffled(spark).createOrReplaceTempView("rows")
    for more in ("", "PARTITIONED BY (p)"):
        if write == "saveAsTable" and more:
            continue
        create(spark, "ordered", BY, more)
        with settings(spark, **{"spark.sql.sources.partitionOverwriteMode": overwrite}):
            WRITES[write](spark, "ordered")
        found = files(spark, "ordered")
        assert len(found) == (6 if more else 2)
        assert all(is_sorted(rows) for rows in found)
        # Spark itself writes an empty string as the partition of NULL.
        p = "nullif(p, '') AS p" if more else "p"
        assertDataFrameEqual(spark.table("ordered"), spark.table("rows").selectExpr("a", "b", "id", p))


def test_concurrent_writers_and_a_literal_partition(spark: SparkSession) -> None:
    shuffled(spark).createOrReplaceTempView("rows")
    create(spark, "ordered", BY, "PARTITIONED BY (p)")
    with settings(spark, **{"spark.sql.maxConcurrentOutputFileWriters": 5}):
        spark.sql("INSERT INTO ordered SELECT * FROM rows")
    spark.sql("INSERT INTO ordered PARTITION (p = 'z') SELECT a, b, id FROM rows")
    spark.sql("INSERT INTO ordered SELECT a, b, id, 'w' FROM rows")
    found = files(spark, "ordered")
    assert len(found) == 10
    assert all(is_sorted(rows) for rows in found)


@pytest.mark.parametrize(
    ("by", "key"),
    [
        ("ORDER BY b, a", lambda row: (row["b"], row["a"])),
        ("a", lambda row: row["a"]),
        ("HILBERT BY a, b", interleaved),
    ],
)
def test_other_layouts(spark: SparkSession, by: str, key: Callable[[dict[str, int]], object]) -> None:
    """Without boundaries there is no Hilbert curve, and rows take the order of their bits."""
    shuffled(spark).createOrReplaceTempView("rows")
    create(spark, "ordered", f"TBLPROPERTIES ('zorder.optimize.by' = '{by}', 'zorder.write.order' = 'local')")
    spark.sql("INSERT INTO ordered SELECT * FROM rows")
    assert all(is_sorted(rows, key) for rows in files(spark, "ordered"))


def test_cluster_by_asks_for_it_also_of_a_new_table(spark: SparkSession) -> None:
    if spark.version < "4":
        pytest.skip("no CLUSTER BY before Spark 4")
    shuffled(spark).createOrReplaceTempView("rows")
    spark.sql("DROP TABLE IF EXISTS ordered")
    spark.sql("CREATE TABLE ordered USING parquet CLUSTER BY (a, b) AS SELECT * FROM rows")
    spark.sql("INSERT INTO ordered SELECT * FROM rows")
    found = files(spark, "ordered")
    assert len(found) == 4
    assert all(is_sorted(rows) for rows in found)
    spark.sql("ALTER TABLE ordered SET TBLPROPERTIES ('zorder.write.order' = 'none')")
    spark.sql("INSERT OVERWRITE ordered SELECT * FROM rows")
    assert not any(is_sorted(rows) for rows in files(spark, "ordered"))


def test_the_last_layout_says_where_values_are(spark: SparkSession) -> None:
    """`a` has much larger values than `b`, so by their bits alone rows would be sorted by `a`."""
    shuffled(spark).selectExpr("a << 20 AS a", "b", "id", "p").createOrReplaceTempView("rows")
    create(spark, "ordered", BY)
    spark.sql("INSERT INTO ordered SELECT * FROM rows")
    spark.sql("OPTIMIZE ordered ZORDER BY (a, b) OPTIONS ('num-files' = 16)")
    spark.sql("INSERT INTO ordered SELECT * FROM rows")
    new = sorted(place(spark, "ordered").glob("*.parquet"), key=lambda f: f.stat().st_mtime_ns)[-2:]
    for file in new:
        table = pq.ParquetFile(file).read(columns=["a", "b"]).to_pylist()
        quarters = [table[i * len(table) // 4 : (i + 1) * len(table) // 4] for i in range(4)]
        for column, unit in (("a", 1 << 20), ("b", 1)):
            widths = [(max(r[column] for r in q) - min(r[column] for r in q)) // unit for q in quarters]
            assert sum(widths) / len(widths) < 48  # of 63: a quarter of the curve is about half of each column


@pytest.mark.parametrize("own", ["SORT BY id", "ORDER BY id", "ORDER BY id LIMIT 900", "DISTRIBUTE BY b SORT BY id"])
def test_the_order_of_the_statement_wins(spark: SparkSession, own: str) -> None:
    shuffled(spark).createOrReplaceTempView("rows")
    create(spark, "ordered", BY)
    spark.sql(f"INSERT INTO ordered SELECT * FROM rows {own}")
    spark.sql(f"WITH c AS (SELECT * FROM rows) INSERT INTO ordered SELECT * FROM c {own}")
    spark.sql(f"CREATE OR REPLACE TEMPORARY VIEW sorted AS SELECT * FROM rows {own}")
    spark.sql("INSERT INTO ordered SELECT * FROM sorted")
    assert all(is_sorted(rows, lambda row: row["id"]) for rows in files(spark, "ordered"))
    spark.sql("DROP TABLE IF EXISTS made")
    spark.sql(f"CREATE TABLE made USING parquet {BY} AS SELECT * FROM rows {own}")
    assert all(is_sorted(rows, lambda row: row["id"]) for rows in files(spark, "made"))


@pytest.mark.parametrize("hint", ["REPARTITION(2)", "REBALANCE", "REPARTITION_BY_RANGE(2, id)"])
def test_a_hint_wins(spark: SparkSession, hint: str) -> None:
    shuffled(spark).createOrReplaceTempView("rows")
    create(spark, "ordered", BY)
    spark.sql(f"INSERT INTO ordered SELECT /*+ {hint} */ * FROM rows")
    assert not any(is_sorted(rows) for rows in files(spark, "ordered"))


@pytest.mark.parametrize(
    "properties",
    [
        "'zorder.optimize.by' = 'gone', 'zorder.write.order' = 'local'",
        "'zorder.optimize.by' = ',', 'zorder.write.order' = 'local'",
        "'zorder.optimize.by' = 'a, b', 'zorder.write.order' = 'sideways'",
        "'zorder.write.order' = 'local'",
    ],
)
def test_what_is_wrong_never_fails_a_write(spark: SparkSession, properties: str) -> None:
    shuffled(spark, 100).createOrReplaceTempView("rows")
    create(spark, "ordered", f"TBLPROPERTIES ({properties})")
    spark.sql("INSERT INTO ordered SELECT * FROM rows")
    assertDataFrameEqual(spark.table("ordered"), spark.table("rows"))


def test_a_table_of_another_source_is_written_by_it(spark: SparkSession) -> None:
    shuffled(spark).createOrReplaceTempView("rows")
    spark.sql("DROP TABLE IF EXISTS other")
    url = "url 'jdbc:derby:memory:ordered;create=true', dbtable 'other'"
    spark.sql(f"CREATE TABLE other USING jdbc OPTIONS ({url}) {BY} AS SELECT a, b, id FROM rows")
    assert spark.table("other").count() == ROWS


@pytest.mark.parametrize("source", ["parquet", "orc"])
@pytest.mark.parametrize("keys", ["k0, k1, k2, k3, k4, k5, k6, k7", "k3, k4, k6", "k1, k3", "k7"])
def test_keys_of_all_kinds(spark: SparkSession, source: str, keys: str) -> None:
    """Keys of fixed width, strings that are cut, large decimals, and NULL in each."""
    kinds = ["CAST(NULL AS SMALLINT)", "CAST(a AS STRING)", "a + 0.5D", "CAST(a AS DECIMAL(30, 2))", "b > 9"]
    kinds += ["DATE '2020-01-01' + a", "TIMESTAMP_MILLIS(a)", "CAST(CAST(a AS STRING) AS BINARY)"]
    rows = shuffled(spark).selectExpr("id", *[f"IF(id % 5 = 0, NULL, {kind}) AS k{i}" for i, kind in enumerate(kinds)])
    rows.createOrReplaceTempView("rows")
    columns = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in rows.schema.fields)
    properties = BY.replace("a, b", keys)
    spark.sql("DROP TABLE IF EXISTS kinds")
    spark.sql(f"CREATE TABLE kinds ({columns}) USING {source} {properties}")
    plan = spark.sql("EXPLAIN INSERT INTO kinds SELECT * FROM rows").first()
    assert plan is not None
    assert "Sort [" in plan[0]
    spark.sql("INSERT INTO kinds SELECT * FROM rows")
    assertDataFrameEqual(spark.table("kinds"), rows)


def test_one_statement_writes_two_tables(spark: SparkSession) -> None:
    shuffled(spark).createOrReplaceTempView("rows")
    create(spark, "ordered", BY)
    create(spark, "sorted", BY)
    spark.sql("FROM rows INSERT INTO ordered SELECT * INSERT INTO sorted SELECT * SORT BY id")
    assert all(is_sorted(rows) for rows in files(spark, "ordered"))
    assert all(is_sorted(rows, lambda row: row["id"]) for rows in files(spark, "sorted"))


def test_a_bucketed_table_and_a_planned_write_turned_off(spark: SparkSession) -> None:
    shuffled(spark).createOrReplaceTempView("rows")
    create(spark, "ordered", BY, "PARTITIONED BY (p) CLUSTERED BY (b) INTO 2 BUCKETS")
    spark.sql("INSERT INTO ordered SELECT * FROM rows")
    assert all(is_sorted(rows) for rows in files(spark, "ordered"))
    create(spark, "ordered", BY, "PARTITIONED BY (p) CLUSTERED BY (b) SORTED BY (id) INTO 2 BUCKETS")
    spark.sql("INSERT INTO ordered SELECT * FROM rows")
    assert all(is_sorted(rows, lambda row: row["id"]) for rows in files(spark, "ordered"))
    create(spark, "ordered", BY)
    with settings(spark, **{"spark.sql.optimizer.plannedWrite.enabled": False}):
        spark.sql("INSERT INTO ordered SELECT * FROM rows")
    assertDataFrameEqual(spark.table("ordered"), spark.table("rows"))
