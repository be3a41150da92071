"""Spark's own statements, and names, that contain our keywords: all of them still work."""

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import SparkSession

from spark_zorder.errors import condition_of

pytestmark = [pytest.mark.older_sparks, pytest.mark.usefixtures("database"), pytest.mark.test_all]

TWO_FILES = "USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100)"


def error(spark: SparkSession, statement: str) -> PySparkException:
    with pytest.raises(PySparkException) as caught:
        spark.sql(statement).collect()
    return caught.value


def condition(spark: SparkSession, statement: str) -> str | None:
    return condition_of(error(spark, statement))


def version_after(spark: SparkSession, statement: str) -> int:
    """The version of the table after an OPTIMIZE."""
    [row] = spark.sql(statement).collect()
    return int(row["metrics"]["version"])


# --- DESCRIBE of a table with the name of one of our statements ---


@pytest.mark.parametrize("name", ["history", "clustering", "skipping"])
def test_a_table_may_be_called_like_what_describe_describes(spark: SparkSession, name: str) -> None:
    spark.sql(f"CREATE TABLE {name} (id BIGINT, orders STRING, index INT) USING parquet")
    for statement in (f"DESCRIBE {name}", f"DESC TABLE {name}", f"DESCRIBE EXTENDED {name}"):
        assert {"id", "orders", "index"} <= {row["col_name"] for row in spark.sql(statement).collect()}
    for statement in (f"DESCRIBE {name} orders", f"DESC {name} orders", f"DESCRIBE TABLE {name} orders"):
        assert ("data_type", "string") in spark.sql(statement).collect()
    assert ("data_type", "int") in spark.sql(f"DESC {name} index").collect()


@pytest.mark.parametrize("word", ["history", "clustering"])
def test_a_column_goes_before_what_we_refuse(spark: SparkSession, word: str) -> None:
    spark.sql(f"CREATE TABLE {word} (id BIGINT, v STRING, j STRING) USING parquet")
    spark.sql("CREATE VIEW v AS SELECT 1 AS one")
    spark.sql("CREATE TABLE j (id BIGINT) USING json")
    for column in ("v", "j"):
        assert ("data_type", "string") in spark.sql(f"DESCRIBE {word} {column}").collect()


@pytest.mark.parametrize("word", ["HISTORY", "CLUSTERING"])
def test_without_such_a_table_the_error_is_about_what_follows(spark: SparkSession, word: str) -> None:
    spark.sql("CREATE VIEW v AS SELECT 1 AS one")
    spark.sql("CREATE TABLE j (id BIGINT) USING json")
    assert condition(spark, f"DESCRIBE {word} nowhere") == "ZORDER_TABLE_NOT_FOUND"
    assert condition(spark, f"DESC {word} v") == "ZORDER_UNSUPPORTED_TARGET.KIND"
    assert condition(spark, f"DESCRIBE {word} j") == "ZORDER_UNSUPPORTED_TARGET.KIND"


# --- Tables and columns with the names of our keywords ---

WORDS = "optimize, vacuum, restore, zorder, hilbert, skipping, clustering, history, weight, auto, options, retain"


@pytest.mark.parametrize("word", WORDS.split(", "))
def test_a_word_of_ours_may_be_a_name(spark: SparkSession, word: str) -> None:
    spark.sql(f"CREATE TABLE {word} USING parquet AS SELECT /*+ REPARTITION(2) */ id AS {word} FROM range(100)")
    spark.sql(f"REFRESH TABLE {word}")
    spark.sql(f"ALTER TABLE {word} SET TBLPROPERTIES ('{word}' = '{word}')")
    for statement in (
        f"SELECT count({word}) FROM {word} AS {word} WHERE {word} >= 0",
        f"SELECT count({word}.{word}) FROM {word}",
        f"WITH {word} AS (SELECT {word} FROM {word}) SELECT count({word}) FROM {word}",
        f"FROM {word} SELECT count({word})",
    ):
        assert spark.sql(statement).collect() == [(100,)]
    assert version_after(spark, f"OPTIMIZE {word} ZORDER BY ({word}) OPTIONS ('num-files' = '2')") == 1
    assert version_after(spark, f"OPTIMIZE {word} FULL ZORDER BY {word} WEIGHT 2") == 2
    # Without the schema, DESCRIBE of the table `history` is about its column of this name.
    here = spark.catalog.currentDatabase()
    assert [row["version"] for row in spark.sql(f"DESCRIBE HISTORY {here}.{word}").collect()] == [2, 1]
    assert spark.sql(f"SELECT count(*) FROM {word} WHERE {word} < 7").collect() == [(7,)]
    spark.sql(f"TRUNCATE TABLE {word}")
    spark.sql(f"DROP TABLE {word}")


def test_full_may_be_a_name_where_spark_lets_it(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE full USING parquet AS SELECT /*+ REPARTITION(2) */ id AS full FROM range(100)")
    assert version_after(spark, "OPTIMIZE full ZORDER BY full") == 1
    assert version_after(spark, "OPTIMIZE full FULL ZORDER BY (full) OPTIONS ('num-files' = '2')") == 2


def test_a_temporary_view_hides_a_table(spark: SparkSession) -> None:
    spark.sql(f"CREATE TABLE t {TWO_FILES}")
    spark.sql("CREATE TEMPORARY VIEW t AS SELECT 1 AS id")
    assert "`t` is a view" in str(error(spark, "OPTIMIZE t"))
    assert version_after(spark, f"OPTIMIZE {spark.catalog.currentDatabase()}.t ZORDER BY (a)") == 1
    spark.sql("CREATE GLOBAL TEMPORARY VIEW shared AS SELECT 1 AS id")
    try:
        assert "is a view" in str(error(spark, "OPTIMIZE global_temp.shared"))
    finally:
        spark.sql("DROP VIEW global_temp.shared")


def test_a_table_of_a_database_called_parquet_goes_before_a_folder(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(f"CREATE DATABASE parquet LOCATION '{tmp_path}/parquet'")
    try:
        spark.sql(f"CREATE TABLE parquet.t {TWO_FILES}")
        assert version_after(spark, "OPTIMIZE parquet.t ZORDER BY (a)") == 1
        assert condition(spark, "OPTIMIZE parquet.nowhere ZORDER BY (a)") == "ZORDER_PATH_NOT_FOUND"
    finally:
        spark.sql("DROP DATABASE parquet CASCADE")


# --- Statements that begin as ours do ---


def test_paths_that_begin_with_a_word_of_ours_are_refreshed(spark: SparkSession) -> None:
    for path in ("skipping/data", "skipping", "'skipping index on t'"):
        assert spark.sql(f"REFRESH {path}").collect() == []


def test_explain_is_sparks(spark: SparkSession) -> None:
    spark.sql(f"CREATE TABLE skipping {TWO_FILES}")
    for mode in ("", "EXTENDED", "FORMATTED", "COST", "CODEGEN"):
        [(text,)] = spark.sql(f"EXPLAIN {mode} SELECT * FROM skipping WHERE id = 7").collect()
        assert "skipping" in text


def test_sparks_statements_on_indexes_are_refused_by_spark(spark: SparkSession) -> None:
    spark.sql(f"CREATE TABLE t {TWO_FILES}")
    for statement in ("CREATE INDEX skipping ON TABLE t (a)", "DROP INDEX skipping ON t"):
        assert "ZORDER" not in str(error(spark, statement))


@pytest.mark.parametrize(
    ("statement", "form"),
    [
        (
            "OPTIMIZE t ZORDER",
            "OPTIMIZE [TABLE] <table> [FULL] [JOIN <dimension> ON a = b ..] [WHERE <predicate>] [ZORDER",
        ),
        ("VACUUM t RETAIN soon HOURS", "VACUUM <table> [RETAIN <n> HOURS | DAYS] [DRY RUN]"),
        ("RESTORE t TO VERSION AS OF yesterday", "RESTORE [TABLE] <table> TO VERSION AS OF <n> | TIMESTAMP AS OF"),
        ("CREATE SKIPPING INDEX t", "CREATE [OR REPLACE] SKIPPING INDEX ON <table> [(c, ..)]"),
        ("REFRESH SKIPPING INDX ON t", "REFRESH SKIPPING INDEX ON <table>"),
        ("DROP SKIPPING INDEX ON t (a)", "DROP SKIPPING INDEX ON <table>"),
        ("EXPLAIN SKIPPING", "EXPLAIN SKIPPING [FILES] <query>"),
    ],
)
def test_a_slip_in_a_statement_of_ours_is_told_by_us(spark: SparkSession, statement: str, form: str) -> None:
    slip = error(spark, statement)
    assert isinstance(slip, ParseException)
    assert condition_of(slip) == "PARSE_SYNTAX_ERROR"
    assert f"spark-zorder takes {form}" in str(slip)


@pytest.mark.parametrize("statement", ["OPTIMISE t", "SELEC 1", "DESCRIBE HISTORY t LIMIT", "EXPLAIN SELEC 1"])
def test_a_slip_elsewhere_is_told_by_spark(spark: SparkSession, statement: str) -> None:
    slip = error(spark, statement)
    assert isinstance(slip, ParseException)
    assert "spark-zorder" not in str(slip)


# --- Forms of a statement ---


@pytest.mark.parametrize(
    "statement",
    [
        "optimize t zorder by (A)",
        "  \n\tOPTIMIZE\tt\nZORDER  BY\n(a) ;;",
        "-- a comment; with a semicolon\nOPTIMIZE t -- another\nZORDER BY (a)",
        "/* a comment */ OPTIMIZE /* OPTIMIZE u */ t ZORDER BY /**/ (a)",
        "/* one /* within */ another */ OPTIMIZE t ZORDER BY (a)",
        "OPTIMIZE ${words.table} ZORDER BY (${words.column})",
    ],
)
def test_case_white_space_comments_and_variables(spark: SparkSession, statement: str) -> None:
    spark.sql(f"CREATE TABLE t {TWO_FILES}")
    spark.sql("SET words.table = t")
    spark.sql("SET words.column = a")
    assert version_after(spark, statement) == 1


@pytest.mark.parametrize("path", ["", "a:b", "nosuchscheme://host/path"])
def test_what_is_no_path_is_told_in_words(spark: SparkSession, path: str) -> None:
    for statement in (f"OPTIMIZE '{path}' ZORDER BY (a)", f"CREATE SKIPPING INDEX ON '{path}'", f"VACUUM '{path}'"):
        found = error(spark, statement)
        assert isinstance(found, AnalysisException)
        assert condition_of(found) in ("ZORDER_PATH_NOT_FOUND", "ZORDER_PATH_UNREADABLE")
    if path:
        assert str(condition(spark, f"OPTIMIZE parquet.`{path}`")).startswith("ZORDER_PATH_")


# --- EXPLAIN SKIPPING ---


@pytest.mark.parametrize(
    ("statement", "files"),
    [
        ("INSERT INTO u SELECT * FROM t WHERE a = 7", [2]),
        ("INSERT OVERWRITE u SELECT * FROM t WHERE a = 7", [2]),
        # Spark plans the query of such a statement only when it runs.
        ("CREATE TABLE w USING parquet AS SELECT * FROM t WHERE a = 7", []),
        ("DROP TABLE t", []),
        ("TRUNCATE TABLE t", []),
    ],
)
def test_what_is_explained_is_not_done(spark: SparkSession, statement: str, files: list[int]) -> None:
    spark.sql(f"CREATE TABLE t {TWO_FILES}")
    spark.sql("CREATE TABLE u (id BIGINT, a BIGINT) USING parquet")
    scans = spark.sql(f"EXPLAIN SKIPPING {statement}").collect()
    assert [row["files_total"] for row in scans] == files
    assert spark.sql("SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM u)").collect() == [(100, 0)]
    assert {row["tableName"] for row in spark.sql("SHOW TABLES").collect()} == {"t", "u"}
