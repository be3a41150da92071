"""All kinds of tables, names, columns, options and files that `OPTIMIZE` may meet: no row changes."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from comparison import files_read, same_rows, settings
from golden import snapshot
from pyarrow import orc, parquet
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql.types import YearMonthIntervalType

from spark_zorder import explain_skipping

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, Row, SparkSession

pytestmark = pytest.mark.test_all

FORMATS = pytest.mark.parametrize("file_format", ["parquet", "orc"])


def rows(frame: DataFrame) -> Counter[str]:
    """The rows as text, and how often each occurs. The text distinguishes NaN, -0.0 and null from all others."""
    # PySpark has no Python value for intervals of months.
    columns = [
        f"CAST(`{field.name}` AS STRING)" if isinstance(field.dataType, YearMonthIntervalType) else f"`{field.name}`"
        for field in frame.schema
    ]
    shown = frame.selectExpr(*columns) if any(c.startswith("CAST") for c in columns) else frame
    return Counter(map(repr, shown.collect()))


def numbers(spark: SparkSession, count: int = 1000) -> DataFrame:
    """Rows with `id`, and with `a` and `b`, whose order is independent of it."""
    return spark.range(count).selectExpr("id", "id * 7919 % 1000 AS a", "id * 104729 % 997 AS b")


def optimize(spark: SparkSession, target: str, rest: str) -> Row:
    """Run an OPTIMIZE, check that the table has the same rows after it, and return its metrics.

    Args:
        spark: The session.
        target: The table, as every statement names it.
        rest: The rest of the statement.
    """
    before = rows(spark.sql(f"SELECT * FROM {target}"))
    [result] = spark.sql(f"OPTIMIZE {target} {rest}").collect()
    assert rows(spark.sql(f"SELECT * FROM {target}")) == before
    metrics: Row = result["metrics"]
    return metrics


def data_files(folder: Path) -> list[Path]:
    """The data files in a folder and its partitions."""
    return sorted(p for p in folder.rglob("*.*") if p.suffix in (".parquet", ".orc") and "_zorder" not in p.parts)


def condition(spark: SparkSession, statement: str) -> str:
    """The condition of a statement's error."""
    with pytest.raises(PySparkException) as caught:
        spark.sql(statement).collect()
    return str(caught.value.getCondition())


# --- Names ---


@FORMATS
@pytest.mark.parametrize("partitioned", [False, True], ids=["flat", "partitioned"])
def test_a_table_of_another_database_is_named_by_its_database_and_catalog(
    spark: SparkSession, database: Path, file_format: str, partitioned: bool
) -> None:
    writer = numbers(spark).selectExpr("*", "id % 2 AS day").repartition(4).write.format(file_format)
    (writer.partitionBy("day") if partitioned else writer).saveAsTable("t")
    spark.sql("USE default")
    database_name = database.name
    for target in (f"{database_name}.t", f"spark_catalog.{database_name}.t", f"`{database_name}`.`T`"):
        metrics = optimize(spark, target, "FULL ZORDER BY (a, b) OPTIONS ('num-files' = '8')")
        assert metrics["numFilesAdded"] == 8
        assert metrics["partitionsOptimized"] == (2 if partitioned else 1)
        kept, total = files_read(spark, f"SELECT * FROM {target} WHERE a = 17 AND b < 30")
        assert kept < total == 8
    history = spark.sql(f"DESCRIBE HISTORY spark_catalog.{database_name}.t").collect()
    assert [row["version"] for row in history] == [3, 2, 1]


@FORMATS
def test_a_folder_with_blanks_and_signs_in_its_name(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "a b" / "50%25 + ü#1"
    numbers(spark).repartition(4).write.format(file_format).save(str(folder))
    metrics = optimize(spark, f"{file_format}.`{folder}`", "ZORDER BY (a) OPTIONS ('num-files' = '5')")
    assert (metrics["numFilesRemoved"], metrics["numFilesAdded"]) == (4, 5)
    assert files_read(spark, f"SELECT * FROM {file_format}.`{folder}` WHERE a = 17") == (1, 5)
    [again] = spark.sql(f"OPTIMIZE '{folder}'").collect()
    assert again["metrics"]["totalFilesSkipped"] == 5
    assert len(data_files(folder)) == 5


@FORMATS
def test_keys_with_dots_blanks_and_backquotes_in_their_names(
    spark: SparkSession, tmp_path: Path, file_format: str
) -> None:
    folder = tmp_path / "t"
    # Spark cannot write a backquote in the name of an ORC column: it loses the rest of the name.
    odd = "back``quote" if file_format == "parquet" else "quote"
    frame = numbers(spark).selectExpr(
        "a AS `a.b`",
        "b AS `with blank`",
        f"id AS `{odd}`",
        "named_struct('f', a, 'g.h', b, 'deep', named_struct('x y', id)) AS s",
        "a AS `Größe`",
        "CAST(b AS STRING) AS `select`",
    )
    frame.repartition(4).write.format(file_format).save(str(folder))
    target = f"{file_format}.`{folder}`"
    for keys, predicate in (
        ("`a.b`, `with blank`", "`a.b` = 17 AND `with blank` < 60"),
        (f"`{odd}`, s.f", f"`{odd}` < 99 AND s.f < 99"),
        ("S.`g.h`, s.deep.`x y`", "s.`g.h` < 99 AND s.deep.`x y` < 99"),
        ("`größe`, `select`", "`Größe` = 17 AND `select` < '2'"),
    ):
        optimize(spark, target, f"FULL ZORDER BY ({keys}) OPTIONS ('num-files' = '8')")
        kept, total = files_read(spark, f"SELECT * FROM {target} WHERE {predicate}")
        assert kept < total == 8, keys
        same_rows(spark, f"SELECT * FROM {target} WHERE {predicate}")


# --- Types of keys ---

TYPES = {
    "tinyint": "CAST(id % 256 - 128 AS TINYINT)",
    "smallint": "CAST(id * 31 % 65536 - 32768 AS SMALLINT)",
    "int": "CAST(id * 7919 - 2000000 AS INT)",
    "bigint": "IF(id = 7, -9223372036854775808, IF(id = 8, 9223372036854775807, id * 104729))",
    "float": "CASE id % 9 WHEN 0 THEN float('NaN') WHEN 1 THEN float('-0.0') WHEN 2 THEN float('0.0') "
    "WHEN 3 THEN float('-Infinity') ELSE CAST(id AS FLOAT) / 7 END",
    "double": "CASE id % 9 WHEN 0 THEN double('NaN') WHEN 1 THEN double('-0.0') WHEN 2 THEN double('Infinity') "
    "ELSE id / -7D END",
    "small_decimal": "CAST(id / 7 AS DECIMAL(9, 2))",
    "large_decimal": "CAST(id * -1000000000000000000000000.5 AS DECIMAL(38, 10))",
    "string": "IF(id % 10 = 0, '', repeat(chr(65 + CAST(id % 26 AS INT)), CAST(id % 40 AS INT)))",
    "binary": "IF(id % 10 = 0, X'', CAST(unhex(hex(id * 7919)) AS BINARY))",
    "boolean": "id % 3 = 0",
    "date": "DATE'1969-01-01' + CAST(id AS INT)",
    "timestamp": "TIMESTAMP'1969-12-31 23:59:59.123456' + make_dt_interval(0, 0, CAST(id AS INT), 0.000001)",
    "timestamp_ntz": "TIMESTAMP_NTZ'1969-12-31 23:59:59.123456' + make_dt_interval(0, 0, CAST(id AS INT), 0.000001)",
    "day_time": "make_dt_interval(CAST(id AS INT) - 500, 1, 2, 3.000004)",
    "year_month": "make_ym_interval(CAST(id AS INT) - 500, 3)",
    "collated": "(concat('k', id % 50)) COLLATE UTF8_LCASE",
    "words": "array('äh', 'ÄH', 'zz', '日本', '😀', 'a')[id % 6]",
}


@FORMATS
def test_keys_of_every_type_with_an_order(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "t"
    columns = [f"IF(id % 17 = 0, NULL, {expression}) AS {name}" for name, expression in TYPES.items()]
    spark.range(1000).selectExpr("id", *columns).repartition(4).write.format(file_format).save(str(folder))
    target = f"{file_format}.`{folder}`"
    names = list(TYPES)
    # A single column is sorted in a different way.
    for keys in (names[:6], names[6:12], names[12:], ["double"], ["large_decimal"], ["collated"]):
        optimize(spark, target, f"FULL ZORDER BY ({', '.join(keys)}) OPTIONS ('num-files' = '4')")
        for name in keys:
            nulls = f"SELECT id FROM {target} WHERE {name} IS NULL"
            assert files_read(spark, nulls) == (1, 4), name
            assert sorted(row["id"] for row in spark.sql(nulls).collect()) == list(range(0, 1000, 17)), name


@FORMATS
def test_nulls_are_counted_of_types_without_order(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "t"
    columns = {
        "arr": "array(id, NULL)",
        "m": "map(id, 'x')",
        "st": "named_struct('x', id, 'in', named_struct('y', array(id)))",
        "lc": "CAST(id AS STRING) COLLATE UTF8_LCASE",
        "ts": "timestamp_seconds(id)",
    }
    frame = spark.range(800).selectExpr(
        "id", *(f"IF(id < 200, NULL, {value}) AS {name}" for name, value in columns.items())
    )
    frame.repartition(2).write.format(file_format).save(str(folder))
    target = f"{file_format}.`{folder}`"
    optimize(spark, target, "ZORDER BY (id) OPTIONS ('num-files' = '8')")
    for name in (*columns, "st.in", "st.in.y"):
        for predicate, kept in ((f"{name} IS NULL", 2), (f"{name} IS NOT NULL", 6)):
            query = f"SELECT id FROM {target} WHERE {predicate}"
            assert files_read(spark, query) == (kept, 8), predicate
            assert len(same_rows(spark, query)) == kept * 100
    spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON {target}")
    for name in ("lc", "ts"):
        assert files_read(spark, f"SELECT id FROM {target} WHERE {name} IS NULL") == (2, 8)
    for name in columns:
        same_rows(spark, f"SELECT id FROM {target} WHERE {name} IS NULL")
    [scan] = explain_skipping(spark, f"SELECT id FROM {target} WHERE ts < TIMESTAMP'1970-01-01 00:04:00'").df.collect()
    # Instants in ORC have no bounds. But a file of nulls cannot match any time.
    assert scan["files_kept"] == {"parquet": 1, "orc": 6}[file_format]


@FORMATS
def test_char_and_varchar_keep_their_blanks(spark: SparkSession, database: Path, file_format: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, c CHAR(8), v VARCHAR(8), s STRING) USING {file_format}")
    spark.sql(
        "INSERT INTO t SELECT /*+ REPARTITION(4) */ id, 'k' || id % 50, IF(id % 7 = 0, '', 'v ' || id % 9 || ' '), "
        "IF(id % 5 = 0, '', IF(id % 6 = 0, NULL, ' ')) FROM range(1000)"
    )
    optimize(spark, "t", "ZORDER BY (c, v, s) OPTIONS ('num-files' = '4')")
    for predicate in (
        "c = 'k7'",
        "c = 'k7     '",
        "v = ''",
        "v = 'v 3 '",
        "v = 'v 3'",
        "s = ''",
        "s IS NULL",
        "c < 'k2'",
    ):
        same_rows(spark, f"SELECT * FROM t WHERE {predicate}")
    assert spark.table("t").schema == spark.sql("SELECT * FROM t").schema
    assert [f["data_type"] for f in spark.sql("DESCRIBE t").collect()[:3]] == ["bigint", "char(8)", "varchar(8)"]


@FORMATS
def test_char_columns_skip_files(spark: SparkSession, database: Path, file_format: str) -> None:
    """Spark pads these columns when it reads them."""
    spark.sql(f"CREATE TABLE t (id BIGINT, c CHAR(8)) USING {file_format}")
    spark.sql("INSERT INTO t SELECT /*+ REPARTITION(4) */ id, 'k' || (100 + id % 50) FROM range(1000)")
    spark.sql("INSERT INTO t VALUES (-1, NULL), (-2, ''), (-3, 'k 1')")
    optimize(spark, "t", "ZORDER BY (c) OPTIONS ('num-files' = '8')")
    for predicate, most in {
        "c = 'k107'": 2,
        "c <=> 'k107    '": 2,
        "c IN ('k101', 'k102')": 2,
        "c LIKE 'k13%'": 3,
        "c < 'k104'": 2,
        "c >= 'k147'": 2,
        "c BETWEEN 'k103' AND 'k104'": 2,
        "c = 'k 1'": 1,
        "c = 'x'": 0,
        "c IS NULL": 1,
    }.items():
        query = f"SELECT id FROM t WHERE {predicate}"
        kept, total = files_read(spark, query)
        assert (kept <= most, total) == (True, 8), (predicate, kept)
        same_rows(spark, query)
    for predicate in ("c <> 'k107'", "NOT c LIKE 'k1%'", "c = ''", "c > 'k107 '", "c LIKE 'k1%7%'", "c LIKE 'k107 %'"):
        same_rows(spark, f"SELECT id FROM t WHERE {predicate}")


def test_a_weight_favours_its_column(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    numbers(spark, 8000).repartition(4).write.parquet(str(folder))

    def touched(keys: str) -> tuple[float, float]:
        metrics = optimize(spark, f"parquet.`{folder}`", f"FULL ZORDER BY ({keys}) OPTIONS ('num-files' = '32')")
        a, b = (column["meanFilesAfter"] for column in metrics["clustering"])
        return float(a), float(b)

    level = touched("a, b")
    for_a = touched("a WEIGHT 4, b")
    for_b = touched("a, b WEIGHT 4")
    assert for_a[0] < level[0] < for_b[0]
    assert for_b[1] < level[1] < for_a[1]


# --- Partitions ---

REGIONS = [
    "plain",
    "a b",
    "x/y",
    "50%",
    "é ü",
    "q=1",
    "it's",
    "#:?*",
    'say "no"',
    "{}[]^",
    "back\\slash",
    " lead",
    "a+b",
]


@FORMATS
def test_only_the_partitions_asked_for_change(spark: SparkSession, database: Path, file_format: str) -> None:
    spark.sql(
        f"CREATE TABLE t (id BIGINT, a BIGINT, n INT, region STRING) USING {file_format} PARTITIONED BY (n, region)"
    )
    names = spark.createDataFrame([(i, name) for i, name in enumerate([*REGIONS, None])], "k INT, region STRING")
    everywhere = numbers(spark, 28 * 20).selectExpr(
        "id", "a", "CAST(id % 14 AS INT) AS k", "CAST(id DIV 14 % 2 AS INT) AS m"
    )
    everywhere.join(names, "k").selectExpr("id", "a", "IF(k = 3 AND m = 1, NULL, m) AS n", "region").repartition(
        2
    ).write.insertInto("t")
    folder = database / "t"
    for n, (where, folders) in enumerate(
        {
            "region = 'x/y' AND n = 1": 1,
            "region = '50%'": 2,
            "region IS NULL": 2,
            "n IS NULL": 1,
            "region IN ('a b', 'it\\'s') AND n <= 0": 2,
            "n = 1 AND (region = '#:?*' OR region LIKE 'say%')": 2,
            "NOT (region <> 'q=1')": 2,
            "N = 0 AND REGION IN ('é ü', '{}[]^', ' lead', 'a+b')": 4,
            r"region = 'back\\slash'": 2,
        }.items()
    ):
        chosen = {
            row["p"].rsplit("/", 1)[0]
            for row in spark.sql(f"SELECT DISTINCT _metadata.file_path AS p FROM t WHERE {where}").collect()
        }
        assert len(chosen) == folders, where
        before = snapshot(folder)
        # Some of them select the same partitions.
        metrics = optimize(spark, "t", f"FULL WHERE {where} ZORDER BY (a) OPTIONS ('num-files' = '{folders * 3}')")
        assert metrics["partitionsOptimized"] == folders, where
        assert metrics["numFilesAdded"] == folders * 3, where
        assert metrics["version"] == n + 1
        after = snapshot(folder)
        changed = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
        in_files = {Path(path).parent for path in changed if Path(path).suffix in (".parquet", ".orc")}
        assert len(in_files) == folders, where
        assert all(
            path.startswith("_zorder")
            or path == "."
            or any(Path(path) == parent or parent in Path(path).parents for parent in in_files)
            for path in changed
        ), changed
        same_rows(spark, f"SELECT * FROM t WHERE {where} AND a < 300")
    assert spark.table("t").count() == 28 * 20


def test_a_partition_folder_may_be_spelled_unusually(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    numbers(spark).selectExpr("*", "id % 3 AS d").repartition(2).write.partitionBy("d").parquet(str(folder))
    (folder / "d=1").rename(folder / "d=01")
    (folder / "d=2").rename(folder / "d=+2")
    numbers(spark, 50).repartition(2).write.parquet(str(folder / "d=1"))
    target = f"parquet.`{folder}`"
    assert dict(spark.sql(f"SELECT d, count(*) FROM {target} GROUP BY d").collect()) == {0: 334, 1: 383, 2: 333}
    before = snapshot(folder / "d=0")
    metrics = optimize(spark, target, "WHERE d = 1 ZORDER BY (a) OPTIONS ('num-files' = '6')")
    assert metrics["partitionsOptimized"] == 2
    assert snapshot(folder / "d=0") == before
    assert len(data_files(folder / "d=01")) + len(data_files(folder / "d=1")) == 6
    optimize(spark, target, "WHERE d >= 1 ZORDER BY (a) OPTIONS ('num-files' = '9')")
    assert snapshot(folder / "d=0") == before
    assert {path.name for path in folder.iterdir() if path.name.startswith("d=")} == {"d=0", "d=1", "d=01", "d=+2"}
    same_rows(spark, f"SELECT * FROM {target} WHERE d = 1 AND a < 300")


# --- Layouts and files ---


@FORMATS
def test_without_a_layout_small_files_are_packed(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "t"
    numbers(spark).repartition(8).write.format(file_format).save(str(folder))
    metrics = optimize(spark, f"{file_format}.`{folder}`", "")
    assert (metrics["numFilesRemoved"], metrics["numFilesAdded"]) == (8, 1)
    assert metrics["zOrderStats"] is None
    assert metrics["clustering"] == []
    again = optimize(spark, f"{file_format}.`{folder}`", "")
    assert (again["numFilesRemoved"], again["numFilesAdded"], again["version"]) == (0, 0, 1)


def test_a_bare_statement_takes_the_last_layout(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    numbers(spark).repartition(4).write.parquet(str(folder))
    target = f"parquet.`{folder}`"
    optimize(spark, target, "ZORDER BY (b WEIGHT 3, a) OPTIONS ('num-files' = '4')")
    optimize(spark, target, "ZORDER BY (a) OPTIONS ('num-files' = '4')")
    numbers(spark, 100).coalesce(1).write.mode("append").parquet(str(folder))
    metrics = optimize(spark, target, "OPTIONS ('num-files' = '8')")
    assert [c["column"] for c in metrics["clustering"]] == ["a"]
    assert files_read(spark, f"SELECT * FROM {target} WHERE a = 17") == (1, 8)


def test_a_bare_statement_takes_sparks_own_clustering(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, s STRUCT<x: BIGINT>, a BIGINT) USING parquet CLUSTER BY (a, s.x)")
    spark.sql(
        "INSERT INTO t SELECT /*+ REPARTITION(4) */ id, named_struct('x', id * 31 % 99), id * 7919 % 1000 FROM range(9)"
    )
    metrics = optimize(spark, "t", "OPTIONS ('num-files' = '8')")
    assert [c["column"] for c in metrics["clustering"]] == ["a", "s.x"]
    other = optimize(spark, "t", "ZORDER BY (id) OPTIONS ('num-files' = '8')")
    assert [c["column"] for c in other["clustering"]] == ["id"]
    # Now it is the layout of the last statement.
    assert optimize(spark, "t", "")["numFilesAdded"] == 0
    spark.sql("ALTER TABLE t CLUSTER BY (s.x)")
    assert optimize(spark, "t", "")["numFilesAdded"] == 0


@FORMATS
def test_only_what_is_new_is_rewritten(spark: SparkSession, database: Path, file_format: str) -> None:
    numbers(spark).selectExpr("*", "id % 3 AS day").repartition(2).write.format(file_format).partitionBy(
        "day"
    ).saveAsTable("t")
    first = optimize(spark, "t", "ZORDER BY (a, b)")
    assert (first["partitionsOptimized"], first["totalFilesSkipped"], first["version"]) == (3, 0, 1)
    before = snapshot(database / "t")
    again = optimize(spark, "t", "ZORDER BY (a, b)")
    assert (again["numFilesAdded"], again["numFilesRemoved"], again["totalFilesSkipped"]) == (0, 0, 3)
    assert again["version"] == 1
    assert snapshot(database / "t") == before
    spark.sql("INSERT INTO t SELECT id, id, id, 1 FROM range(10)")
    others = {name: snapshot(database / "t" / f"day={name}") for name in (0, 2)}
    third = optimize(spark, "t", "ZORDER BY (a, b)")
    assert (third["partitionsOptimized"], third["totalFilesSkipped"], third["version"]) == (1, 2, 2)
    assert {name: snapshot(database / "t" / f"day={name}") for name in (0, 2)} == others
    other_layout = optimize(spark, "t", "ZORDER BY (b)")
    assert other_layout["partitionsOptimized"] == 3
    full = optimize(spark, "t", "FULL ZORDER BY (b)")
    assert (full["partitionsOptimized"], full["totalFilesSkipped"], full["version"]) == (3, 0, 4)


# --- Options ---


@pytest.mark.parametrize("wanted", [1, 2, 7, 50, 200])
def test_the_number_of_files_is_exact(spark: SparkSession, tmp_path: Path, wanted: int) -> None:
    folder = tmp_path / "t"
    numbers(spark, 200).repartition(3).write.parquet(str(folder))
    # All combinations of the two columns are distinct, so a file for each row is possible.
    options = f"OPTIONS ('num-files' = '{wanted}', 'cuts' = 'equal')"
    metrics = optimize(spark, f"parquet.`{folder}`", f"ZORDER BY (a, b) {options}")
    assert metrics["numFilesAdded"] == wanted == len(data_files(folder))


@pytest.mark.parametrize("wanted", [1, 2, 3, 7, 24, 50])
@pytest.mark.parametrize("curve", ["ZORDER", "HILBERT"])
def test_files_of_whole_cells_are_about_as_many(spark: SparkSession, tmp_path: Path, curve: str, wanted: int) -> None:
    folder = tmp_path / "t"
    numbers(spark).repartition(3).write.parquet(str(folder))
    layout = f"{curve} BY (a, b) OPTIONS ('num-files' = '{wanted}')"
    metrics = optimize(spark, f"parquet.`{folder}`", layout)
    assert abs(metrics["numFilesAdded"] - wanted) <= wanted / 4
    assert metrics["numFilesAdded"] == len(data_files(folder))
    # This is also the requested number.
    assert optimize(spark, f"parquet.`{folder}`", layout)["numFilesAdded"] == 0


def test_the_number_of_files_is_that_of_all_partitions(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    frame = numbers(spark).selectExpr("*", "IF(id < 700, 1, IF(id < 900, 2, IF(id < 990, 3, 4))) AS p")
    frame.repartition(2).write.partitionBy("p").parquet(str(folder))
    target = f"parquet.`{folder}`"
    assert optimize(spark, target, "ZORDER BY (a) OPTIONS ('num-files' = '10')")["numFilesAdded"] == 10
    assert min(len(data_files(folder / f"p={p}")) for p in (1, 2, 3, 4)) >= 1
    # Each partition gets at least one.
    optimize(spark, target, "ZORDER BY (a) OPTIONS ('num-files' = '2')")
    assert [len(data_files(folder / f"p={p}")) for p in (1, 2, 3, 4)] == [1, 1, 1, 1]


@FORMATS
def test_files_have_the_target_size(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "t"
    # No codec makes these bytes smaller.
    numbers(spark, 20000).selectExpr("*", "unhex(sha2(CAST(id AS STRING), 512)) AS noise").repartition(2).write.format(
        file_format
    ).save(str(folder))
    size = sum(path.stat().st_size for path in data_files(folder))
    target = size // 6
    metrics = optimize(
        spark, f"{file_format}.`{folder}`", f"ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '{target}')"
    )
    assert metrics["numFilesAdded"] == 6
    assert target * 0.5 < metrics["filesAdded"]["min"]
    assert metrics["filesAdded"]["max"] < target * 1.5


def test_the_size_of_row_groups_and_the_codec_can_be_chosen(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    numbers(spark, 20000).selectExpr("*", "unhex(sha2(CAST(id AS STRING), 512)) AS noise").repartition(2).write.parquet(
        str(folder)
    )
    target = f"parquet.`{folder}`"

    def codecs_and_groups() -> tuple[set[str], int]:
        footers = [parquet.ParquetFile(path).metadata for path in data_files(folder)]
        groups = [footer.row_group(g) for footer in footers for g in range(footer.num_row_groups)]
        return {group.column(0).compression for group in groups}, len(groups)

    before = codecs_and_groups()[0]
    optimize(spark, target, "ZORDER BY (a) OPTIONS ('num-files' = '2')")
    assert codecs_and_groups() == (before, 2)
    optimize(
        spark,
        target,
        "FULL ZORDER BY (a) OPTIONS ('num-files' = '2', 'row-group-size-bytes' = '100000', 'compression' = 'zstd')",
    )
    codecs, groups = codecs_and_groups()
    assert codecs == {"ZSTD"}
    assert groups >= 8
    # The existing files decide the codec of new files.
    optimize(spark, target, "FULL ZORDER BY (a) OPTIONS ('num-files' = '2')")
    assert codecs_and_groups()[0] == {"ZSTD"}


def test_the_codec_of_orc_can_be_chosen(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    numbers(spark, 5000).repartition(2).write.option("compression", "zlib").orc(str(folder))
    target = f"orc.`{folder}`"
    for option, expected in (("", "ZLIB"), (", 'compression' = 'snappy'", "SNAPPY"), ("", "SNAPPY")):
        optimize(spark, target, f"FULL ZORDER BY (a) OPTIONS ('num-files' = '2'{option})")
        assert {str(orc.ORCFile(path).compression).upper() for path in data_files(folder)} == {expected}


@pytest.mark.parametrize("curve", ["ZORDER", "HILBERT"])
def test_there_are_as_many_files_as_asked_for_of_the_size_asked_for(
    spark: SparkSession, tmp_path: Path, curve: str
) -> None:
    folder = tmp_path / "t"
    distinct = {"a": 500, "b": 5000, "c": 90000}
    keys = [f"pmod(xxhash64(id, {count}), {count}) AS {name}" for name, count in distinct.items()]
    spark.range(0, 150_000, 1, 4).selectExpr(*keys).write.parquet(str(folder))

    def sizes(asked: int, cuts: str) -> list[float]:
        """The rows of each file, as a share of the mean."""
        spark.sql(
            f"OPTIMIZE parquet.`{folder}` FULL {curve} BY (a, b, c) "
            f"OPTIONS ('num-files' = '{asked}', 'cuts' = '{cuts}')"
        ).collect()
        return [parquet.read_metadata(f).num_rows * asked / 150_000 for f in data_files(folder)]

    # Cells of powers of two have 1.56 times the target for 50 and 100 files, and 0.93 times for 119.
    off = []
    for asked in (50, 100, 119):
        equal, aligned = sizes(asked, "equal"), sizes(asked, "aligned")
        assert abs(len(equal) - asked) <= 0.02 * asked
        assert abs(len(aligned) - asked) <= 0.25 * asked
        assert sum(equal) == pytest.approx(asked)
        off += [not 0.5 <= size <= 1.5 for size in aligned]
    assert sum(off) <= 0.02 * len(off)


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_files_have_no_more_rows_than_the_user_wants_and_are_in_order_still(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    folder = tmp_path / "t"
    # Column `a` has every value twice.
    numbers(spark, 2000).repartition(4).write.format(kind).save(str(folder))
    target = f"{kind}.`{folder}`"
    spark.sql(f"CREATE SKIPPING INDEX ON {target}")
    with settings(spark, spark_sql_files_maxRecordsPerFile=100, spark_sql_shuffle_partitions=3):
        metrics = optimize(spark, target, "ZORDER BY (a) OPTIONS ('num-files' = '2')")
        again = optimize(spark, target, "ZORDER BY (a) OPTIONS ('num-files' = '2')")
    files = spark.sql(
        f"SELECT count(*) AS n, min(a) AS low, max(a) AS high FROM {target} GROUP BY _metadata.file_name ORDER BY low"
    ).collect()
    assert metrics["numFilesAdded"] == len(files) == len(data_files(folder))
    assert again["numFilesAdded"] == 0
    assert sum(file.n for file in files) == 2000
    assert all(file.n <= 100 for file in files)
    # There are no more files than necessary, and no value is in two of them.
    assert 20 <= len(files) <= 23
    assert all(one.high < other.low for one, other in itertools.pairwise(files))
    # The index, queries and RESTORE treat each as a file.
    entries = spark.sql(f"DESCRIBE SKIPPING INDEX ON {target}").where("column = 'a'").collect()
    expected = sorted((file.n, str(file.low), str(file.high), "indexed") for file in files)
    assert sorted((e["rows"], e["min"], e["max"], e["status"]) for e in entries) == expected
    assert files_read(spark, f"SELECT * FROM {target} WHERE a = 500") == (1, len(files))
    spark.sql(f"RESTORE {target} TO VERSION AS OF 0")
    assert len(data_files(folder)) == 4
    assert spark.sql(f"SELECT count(*), sum(id) FROM {target}").first() == (2000, 1999000)


def test_packing_leaves_full_files_alone(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    target = f"parquet.`{folder}`"
    with settings(spark, spark_sql_files_maxRecordsPerFile=100):
        numbers(spark, 1000).repartition(50).write.parquet(str(folder))
        assert optimize(spark, target, "")["numFilesAdded"] == 10
        assert optimize(spark, target, "")["numFilesAdded"] == 0
    assert optimize(spark, target, "")["numFilesAdded"] == 1


@pytest.mark.parametrize(
    "name_and_value",
    [
        ("spark.sql.adaptive.enabled", "false"),
        ("spark.sql.ansi.enabled", "false"),
        ("spark.sql.caseSensitive", "true"),
        ("spark.sql.codegen.wholeStage", "false"),
        ("spark.sql.files.ignoreCorruptFiles", "true"),
        ("spark.sql.files.ignoreMissingFiles", "true"),
        ("spark.sql.parquet.enableVectorizedReader", "false"),
        ("spark.sql.parquet.filterPushdown", "false"),
        ("spark.sql.parquet.writeLegacyFormat", "true"),
        ("spark.sql.parquet.binaryAsString", "true"),
        ("spark.sql.parquet.mergeSchema", "true"),
        ("spark.sql.session.timeZone", "America/Los_Angeles"),
        ("spark.sql.sources.partitionOverwriteMode", "dynamic"),
        ("spark.sql.sources.bucketing.enabled", "false"),
        ("spark.sql.files.maxPartitionBytes", "1000"),
        ("spark.sql.limit.initialNumPartitions", "1"),
    ],
    ids=lambda pair: pair[0].removeprefix("spark.sql."),
)
def test_settings_of_the_user_change_no_row(
    spark: SparkSession, tmp_path: Path, name_and_value: tuple[str, str]
) -> None:
    folder = tmp_path / "t"
    numbers(spark, 500).selectExpr(
        "*",
        "TIMESTAMP'2024-01-01' + make_dt_interval(0, CAST(a AS INT)) AS ts",
        "CAST(a / 7 AS DECIMAL(9, 3)) AS d",
        "unhex(hex(id)) AS bin",
        "array(a, b) AS l",
    ).repartition(4).write.parquet(str(folder))
    spark.conf.set(*name_and_value)
    optimize(spark, f"parquet.`{folder}`", "ZORDER BY (a, ts) OPTIONS ('num-files' = '3')")
    spark.conf.unset(name_and_value[0])
    same_rows(spark, f"SELECT * FROM parquet.`{folder}` WHERE a < 100")
    same_rows(spark, f"SELECT * FROM parquet.`{folder}` WHERE ts < TIMESTAMP'2024-01-02' AND d > 3")


# --- Files with different schemas ---


def merged(spark: SparkSession, file_format: str, folder: Path) -> Counter[str]:
    """The rows of a folder, with the columns of all its files."""
    return rows(spark.read.option("mergeSchema", "true").format(file_format).load(str(folder)))


@FORMATS
def test_a_column_that_came_later_is_kept(
    spark: SparkSession, database: Path, tmp_path: Path, file_format: str
) -> None:
    folder = tmp_path / "t"
    numbers(spark).select("id", "a").repartition(3).write.format(file_format).save(str(folder))
    later = numbers(spark, 200).selectExpr("id + 1000 AS id", "a", "b", "named_struct('x', b) AS s")
    later.repartition(2).write.format(file_format).mode("append").save(str(folder))
    before = merged(spark, file_format, folder)
    # A path does not say whether the column has a default. A table does.
    with pytest.raises(PySparkException, match=r"ZORDER_UNSAFE_FILES\.MISSING_COLUMN"):
        spark.sql(f"OPTIMIZE {file_format}.`{folder}` ZORDER BY (a) OPTIONS ('num-files' = '4')")
    spark.sql(f"CREATE TABLE t USING {file_format} OPTIONS (mergeSchema 'true') LOCATION '{folder}'")
    [result] = spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '4')").collect()
    assert result["metrics"]["numFilesRemoved"] == 5
    assert merged(spark, file_format, folder) == before
    assert sum(json_row.count("b=None") * n for json_row, n in before.items()) == 1000
    spark.sql(f"OPTIMIZE {file_format}.`{folder}` ZORDER BY (b, s.x) OPTIONS ('num-files' = '4')").collect()
    assert merged(spark, file_format, folder) == before


def test_a_column_added_to_a_table_is_null_in_older_files(spark: SparkSession, database: Path) -> None:
    numbers(spark).repartition(3).write.saveAsTable("t")
    spark.sql("ALTER TABLE t ADD COLUMNS (late STRING, later STRUCT<x: INT>)")
    spark.sql("INSERT INTO t SELECT id, id, id, 'new', named_struct('x', 1) FROM range(10)")
    optimize(spark, "t", "ZORDER BY (a, late) OPTIONS ('num-files' = '4')")
    assert len(same_rows(spark, "SELECT * FROM t WHERE late IS NULL AND later IS NULL")) == 1000
    assert len(same_rows(spark, "SELECT * FROM t WHERE late = 'new' AND later.x = 1")) == 10


def test_a_default_value_of_a_column_that_older_files_lack_stays(spark: SparkSession, database: Path) -> None:
    numbers(spark).repartition(3).write.saveAsTable("t")
    spark.sql("ALTER TABLE t ADD COLUMN (level INT DEFAULT 42)")
    spark.sql("INSERT INTO t SELECT id, id, id, IF(id % 2 = 0, NULL, 7) FROM range(10)")
    for predicate in ("level = 42", "level IS NULL", "level = 7"):
        same_rows(spark, f"SELECT * FROM t WHERE {predicate}")
    spark.sql("CREATE SKIPPING INDEX ON t")
    for predicate in ("level = 42", "level IS NULL", "level = 7"):
        same_rows(spark, f"SELECT * FROM t WHERE {predicate}")
    optimize(spark, "t", "ZORDER BY (a, level) OPTIONS ('num-files' = '4')")
    assert len(same_rows(spark, "SELECT * FROM t WHERE level = 42")) == 1000
    assert len(same_rows(spark, "SELECT * FROM t WHERE level IS NULL")) == 5


def test_a_default_with_microseconds_stays_where_the_session_writes_milliseconds(
    spark: SparkSession, database: Path
) -> None:
    numbers(spark).repartition(3).write.saveAsTable("t")
    spark.sql("ALTER TABLE t ADD COLUMN (at TIMESTAMP DEFAULT TIMESTAMP '2026-11-23 01:02:03.456789')")
    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
    before = spark.table("t").select("at").distinct().collect()
    optimize(spark, "t", "ZORDER BY (a) OPTIONS ('num-files' = '2')")
    assert spark.table("t").select("at").distinct().collect() == before


@FORMATS
def test_columns_whose_names_differ_in_case_only_stay_two(
    spark: SparkSession, database: Path, file_format: str
) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    spark.sql(f"CREATE TABLE t (id BIGINT, Case INT, cASE STRING) USING {file_format}")
    spark.sql("INSERT INTO t SELECT id, CAST(id % 7 AS INT), concat('s', id) FROM range(0, 100, 1, 3)")
    optimize(spark, "t", "ZORDER BY (Case) OPTIONS ('num-files' = '2')")
    # Only one file has one of the two.
    spark.sql("SELECT id, 'x' AS cASE FROM range(100, 110)").write.format(file_format).mode("append").save(
        str(database / "t")
    )
    spark.sql("REFRESH TABLE t")
    optimize(spark, "t", "FULL ZORDER BY (Case) OPTIONS ('num-files' = '2')")
    assert len(same_rows(spark, "SELECT * FROM t WHERE Case IS NULL AND cASE = 'x'")) == 10
    assert len(same_rows(spark, "SELECT * FROM t WHERE Case = 3 AND cASE LIKE 's%'")) == 14


def test_narrower_numbers_are_read_as_the_tables(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a BIGINT, x DOUBLE, d DECIMAL(18, 2)) USING parquet")
    folder = str(database / "t")
    for cast, x, d in (("INT", "FLOAT", "DECIMAL(9, 2)"), ("BIGINT", "DOUBLE", "DECIMAL(18, 2)")):
        numbers(spark).selectExpr(
            f"CAST(id AS {cast}) AS id",
            f"CAST(a AS {cast}) AS a",
            f"CAST(b / 3 AS {x}) AS x",
            f"CAST(b / 7 AS {d}) AS d",
        ).repartition(2).write.mode("append").parquet(folder)
    spark.sql("REFRESH TABLE t")
    optimize(spark, "t", "ZORDER BY (a, x, d) OPTIONS ('num-files' = '4')")
    assert {str(parquet.read_schema(path).field("a").type) for path in data_files(database / "t")} == {"int64"}
    same_rows(spark, "SELECT * FROM t WHERE a = 17 AND x > 3.3")


def test_names_that_differ_in_case_are_one_column(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, Amount BIGINT) USING parquet")
    for n, spelling in enumerate(("id, AMOUNT", "ID, amount", "Id, Amount")):
        names = spelling.split(", ")
        numbers(spark).selectExpr(f"id + {n * 1000} AS {names[0]}", f"a AS {names[1]}").repartition(2).write.mode(
            "append"
        ).parquet(str(database / "t"))
    spark.sql("REFRESH TABLE t")
    optimize(spark, "t", "ZORDER BY (amount) OPTIONS ('num-files' = '4')")
    assert {tuple(parquet.read_schema(path).names) for path in data_files(database / "t")} == {("id", "Amount")}
    assert len(same_rows(spark, "SELECT * FROM t WHERE AMOUNT = 17")) == 3


@FORMATS
@pytest.mark.parametrize(
    "other",
    ["CAST(a AS STRING) AS a", "CAST(a AS DOUBLE) AS a", "named_struct('x', a) AS a", "DATE'2024-01-01' AS a"],
    ids=["string", "double", "struct", "date"],
)
def test_types_that_do_not_go_together_are_refused(
    spark: SparkSession, tmp_path: Path, file_format: str, other: str
) -> None:
    folder = tmp_path / "t"
    numbers(spark).select("id", "a").repartition(2).write.format(file_format).save(str(folder))
    numbers(spark).selectExpr("id", other).repartition(2).write.format(file_format).mode("append").save(str(folder))
    before = snapshot(folder)
    refused = condition(spark, f"OPTIMIZE {file_format}.`{folder}` ZORDER BY (id) OPTIONS ('num-files' = '8')")
    assert refused == "ZORDER_UNSAFE_FILES.SCHEMA_DRIFT"
    assert snapshot(folder) == before


def test_a_column_that_the_table_does_not_have_is_not_dropped(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a BIGINT) USING parquet")
    numbers(spark).repartition(2).write.mode("append").parquet(str(database / "t"))
    spark.sql("REFRESH TABLE t")
    before = snapshot(database / "t")
    assert (
        condition(spark, "OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '8')") == "ZORDER_UNSAFE_FILES.SCHEMA_DRIFT"
    )
    assert snapshot(database / "t") == before


def test_a_narrower_type_of_the_table_is_refused(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a INT) USING parquet")
    numbers(spark).select("id", "a").repartition(2).write.mode("append").parquet(str(database / "t"))
    spark.sql("REFRESH TABLE t")
    before = snapshot(database / "t")
    assert (
        condition(spark, "OPTIMIZE t ZORDER BY (id) OPTIONS ('num-files' = '8')") == "ZORDER_UNSAFE_FILES.SCHEMA_DRIFT"
    )
    assert snapshot(database / "t") == before


@pytest.mark.parametrize(
    ("setting", "column", "refused"),
    [
        ("spark.sql.parquet.binaryAsString", pa.array([b"\xff\xfe", b"\xc3", None] * 20, pa.binary()), False),
        ("spark.sql.parquet.int96TimestampConversion", pa.array([1000, 10**15, None] * 20, pa.timestamp("ns")), True),
    ],
    ids=["binaryAsString", "int96TimestampConversion"],
)
def test_what_a_setting_of_the_reader_turns_into_something_else_is_not_written_back(
    spark: SparkSession, tmp_path: Path, setting: str, column: pa.Array, refused: bool
) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    for n in range(3):
        file = pa.table({"a": pa.array(range(60), pa.int32()), "b": column})
        parquet.write_table(file, folder / f"{n}.parquet", use_deprecated_int96_timestamps=True, store_schema=False)
    before = snapshot(folder)
    stored = parquet.read_schema(folder / "0.parquet").field("b").type
    statement = f"OPTIMIZE parquet.`{folder}` ZORDER BY (a) OPTIONS ('num-files' = '2')"
    spark.conf.set(setting, "true")
    if refused:
        with pytest.raises(AnalysisException, match=rf"0\.parquet .* column b: .*{re.escape(setting)}") as error:
            spark.sql(statement)
        assert error.value.getCondition() == "ZORDER_UNSAFE_FILES.SCHEMA_DRIFT"
        assert snapshot(folder) == before
        spark.conf.set(setting, "false")
    spark.sql(statement)
    files = [parquet.read_table(path, partitioning=None) for path in data_files(folder)]
    assert len(files) == 2
    assert {file.schema.field("b").type for file in files} == {stored}
    assert Counter(v for file in files for v in file["b"].to_pylist()) == Counter(column.to_pylist() * 3)


MOMENTS = [
    "TIMESTAMP'2024-01-01 00:00:00.123456' + make_dt_interval(0, CAST(a AS INT)) AS ts",
    "IF(id % 10 = 0, TIMESTAMP'1899-12-31 23:59:59.999999', TIMESTAMP'2262-04-11 00:00:00') AS far",
]


@pytest.mark.parametrize(
    "kinds", [["INT96"], ["TIMESTAMP_MICROS"], ["TIMESTAMP_MILLIS"], ["INT96", "TIMESTAMP_MICROS"]]
)
def test_timestamps_of_every_physical_type(spark: SparkSession, tmp_path: Path, kinds: list[str]) -> None:
    folder = tmp_path / "t"
    for kind in kinds:
        with settings(spark, spark_sql_parquet_outputTimestampType=kind):
            numbers(spark).selectExpr("id", "a", *MOMENTS).repartition(2).write.mode("append").parquet(str(folder))
    target = f"parquet.`{folder}`"
    optimize(spark, target, "ZORDER BY (ts, far) OPTIONS ('num-files' = '6')")
    physical = {parquet.ParquetFile(path).schema.column(2).physical_type for path in data_files(folder)}
    assert physical == {"INT96" if "INT96" in kinds else "INT64"}
    for predicate in (
        "ts < TIMESTAMP'2024-01-02 00:00:00.123456'",
        "ts <= TIMESTAMP'2024-01-02 00:00:00.123456'",
        "far < TIMESTAMP'1900-01-01'",
        "far = TIMESTAMP'1899-12-31 23:59:59.999999'",
        "ts = TIMESTAMP'2024-01-01 17:00:00.123456'",
        "far > TIMESTAMP'2000-01-01' AND ts < TIMESTAMP'2024-01-03'",
    ):
        same_rows(spark, f"SELECT * FROM {target} WHERE {predicate}")
    assert files_read(spark, f"SELECT * FROM {target} WHERE ts < TIMESTAMP'2024-01-02'")[0] < 6


@pytest.mark.parametrize("mode", ["LEGACY", "CORRECTED"])
@pytest.mark.parametrize("kind", ["INT96", "TIMESTAMP_MICROS"])
def test_days_before_the_gregorian_calendar_stay_the_same(
    spark: SparkSession, tmp_path: Path, mode: str, kind: str
) -> None:
    folder = tmp_path / "t"
    writing = {
        "spark_sql_parquet_outputTimestampType": kind,
        "spark_sql_parquet_datetimeRebaseModeInWrite": mode,
        "spark_sql_parquet_int96RebaseModeInWrite": mode,
    }
    with settings(spark, **writing):
        numbers(spark).selectExpr(
            "id",
            "a",
            "DATE'0900-01-01' + CAST(a * 400 AS INT) AS day",
            "TIMESTAMP'0900-01-01 01:02:03' + make_dt_interval(CAST(a * 400 AS INT)) AS ts",
        ).repartition(2).write.parquet(str(folder))
    target = f"parquet.`{folder}`"
    optimize(spark, target, "ZORDER BY (day, ts) OPTIONS ('num-files' = '6')")
    for predicate in (
        "day < DATE'1000-01-01'",
        "ts < TIMESTAMP'1000-01-01'",
        "day BETWEEN '1582-01-01' AND '1583-01-01'",
    ):
        assert same_rows(spark, f"SELECT * FROM {target} WHERE {predicate}")
