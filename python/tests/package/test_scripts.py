"""Our statements in SQL scripts, `BEGIN .. END`, and by EXECUTE IMMEDIATE."""

from __future__ import annotations

from pathlib import Path

import pyspark
import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession

MINOR = ".".join(pyspark.__version__.split(".")[:2])

pytestmark = [pytest.mark.every_spark, pytest.mark.skipif(MINOR == "3.5", reason="Spark 3.5 has no SQL scripts")]


@pytest.fixture
def scripts(spark: SparkSession, database: Path) -> SparkSession:
    """A session that takes scripts. Spark 4.0 does so only if asked."""
    spark.conf.set("spark.sql.scripting.enabled", "true")
    return spark


def create(name: str) -> str:
    return (
        f"CREATE TABLE {name} USING parquet AS SELECT /*+ REPARTITION(8) */ id, pmod(hash(id), 97) a FROM range(2000)"
    )


def files(spark: SparkSession, name: str) -> int:
    return len(spark.table(name).inputFiles())


def test_a_script_returns_what_its_last_query_returns(scripts: SparkSession) -> None:
    scripts.sql(create("t"))
    result = scripts.sql("BEGIN OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = 4); SELECT count(*) AS n FROM t; END")
    assert result.first() == (2000,)
    assert files(scripts, "t") == 4
    assert scripts.sql("DESCRIBE HISTORY t").count() == 1


def test_a_table_of_the_script_itself(scripts: SparkSession) -> None:
    scripts.sql(f"BEGIN {create('made')}; OPTIMIZE made ZORDER BY (a) OPTIONS ('num-files' = 4); VACUUM made; END")
    assert files(scripts, "made") == 4
    assert scripts.sql("SELECT count(*), count(DISTINCT id) FROM made").first() == (2000, 2000)


def test_loops_branches_and_handlers(scripts: SparkSession) -> None:
    for name in ("looped", "chosen", "other", "handled"):
        scripts.sql(create(name))
    scripts.sql("""
        BEGIN
          DECLARE n INT DEFAULT 0;
          DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN
            OPTIMIZE handled ZORDER BY (a) OPTIONS ('num-files' = 2);
          END;
          WHILE n < 2 DO
            OPTIMIZE looped ZORDER BY (a) OPTIONS ('num-files' = 3);
            SET n = n + 1;
          END WHILE;
          IF n = 2 THEN
            OPTIMIZE chosen ZORDER BY (a) OPTIONS ('num-files' = 2);
          ELSE
            OPTIMIZE other ZORDER BY (a) OPTIONS ('num-files' = 2);
          END IF;
          SELECT * FROM missing;
        END""")
    assert [files(scripts, name) for name in ("looped", "chosen", "other", "handled")] == [3, 2, 8, 2]


def test_a_handler_needs_no_block(scripts: SparkSession) -> None:
    scripts.sql(create("handled"))
    handler = "DECLARE EXIT HANDLER FOR SQLEXCEPTION OPTIMIZE handled ZORDER BY (a) OPTIONS ('num-files' = 2);"
    scripts.sql(f"BEGIN {handler} SELECT * FROM missing; END")
    assert files(scripts, "handled") == 2


def test_every_statement(scripts: SparkSession) -> None:
    scripts.sql(create("t"))
    for statement in (
        "OPTIMIZE t ZORDER BY (a)",
        "CREATE OR REPLACE SKIPPING INDEX ON t",
        "REFRESH SKIPPING INDEX ON t",
        "DESCRIBE CLUSTERING t (a)",
        "DESCRIBE DETAIL t",
        "DESC HISTORY t",
        "EXPLAIN SKIPPING SELECT * FROM t WHERE a = 3",
        "SHOW CLUSTERING",
        "RESTORE t TO VERSION AS OF 0",
        "VACUUM t DRY RUN",
    ):
        # A script does not return the rows of a command, which holds for Spark's own.
        assert scripts.sql(f"BEGIN {statement}; END").columns == scripts.sql("BEGIN SHOW TABLES; END").columns, (
            statement
        )
    assert scripts.sql("BEGIN DESCRIBE SKIPPING INDEX ON t; END").count() == 2 * files(scripts, "t")
    assert [row.operation for row in scripts.sql("DESCRIBE HISTORY t").collect()] == ["RESTORE", "OPTIMIZE"]


def test_a_wrong_statement_is_told_before_the_script_begins(scripts: SparkSession) -> None:
    with pytest.raises(ParseException) as error:
        scripts.sql(f"BEGIN {create('never')}; OPTIMIZE never ZORDER (a); END")
    assert error.value.getCondition() == "PARSE_SYNTAX_ERROR"
    assert "spark-zorder takes OPTIMIZE" in str(error.value)
    assert not scripts.catalog.tableExists("never")


def test_a_mistake_of_the_script_is_told_at_its_place(scripts: SparkSession) -> None:
    with pytest.raises(ParseException) as error:
        scripts.sql("BEGIN\n  OPTIMIZE t;\n  SELECT 1 +;\nEND")
    assert "line 3" in str(error.value)


def test_a_text_that_is_executed(scripts: SparkSession) -> None:
    scripts.sql(create("t"))
    result = scripts.sql("EXECUTE IMMEDIATE 'OPTIMIZE t ZORDER BY (a) OPTIONS (\"num-files\" = 4)'")
    assert result.collect()[0]["metrics"]["numFilesAdded"] == 4
    scripts.sql(
        "BEGIN DECLARE text STRING DEFAULT 'OPTIMIZE ' || 't' || ' FULL ZORDER BY (id)'; EXECUTE IMMEDIATE text; END"
    )
    assert "id" in scripts.sql("DESCRIBE HISTORY t").collect()[0]["operationParameters"]["zOrderBy"]


@pytest.mark.skipif(MINOR == "4.0", reason="Spark 4.0 refuses our statements in a script with parameters")
def test_values_of_parameters_move_no_statement(scripts: SparkSession) -> None:
    """Spark puts the values into the text, so a statement of ours is not where the script has it."""
    scripts.sql("CREATE TABLE p USING parquet AS SELECT /*+ REPARTITION(4) */ id, id % 7 AS a FROM range(1000)")
    script = "BEGIN SELECT :d; OPTIMIZE p ZORDER BY (id, a) OPTIONS ('num-files' = 2); SELECT :d AS d; END"
    for value in ("2026-01-01", "x", "a text that is a good deal longer than its name"):
        before = scripts.sql("DESCRIBE HISTORY p").count()
        assert scripts.sql(script, args={"d": value}).collect() == [(value,)]
        assert scripts.sql("DESCRIBE HISTORY p").count() == before + (1 if value == "2026-01-01" else 0)
    version = scripts.sql("DESCRIBE DETAIL p").collect()[0]["version"]
    for length in range(30, 50):
        name = "p" * length
        restore = "IF x = 0 THEN RESTORE p TO VERSION AS OF 0; END IF"
        branch = f"BEGIN DECLARE x INT DEFAULT :{name}; {restore}; SELECT 'no'; END"
        assert scripts.sql(branch, args={name: 1}).collect() == [("no",)]
    assert scripts.sql("DESCRIBE DETAIL p").collect()[0]["version"] == version


def test_a_text_in_a_script_stays_as_it_is(scripts: SparkSession) -> None:
    scripts.sql("CREATE TABLE r USING parquet AS SELECT /*+ REPARTITION(4) */ id FROM range(1000)")
    script = r"BEGIN OPTIMIZE r ZORDER BY (id) OPTIONS ('num-files' = 2); SELECT r'\', '; VACUUM r; ', 1; END"
    assert scripts.sql(script.replace("\\\\", "\\")).collect() == [("\\", "; VACUUM r; ", 1)]
    assert scripts.sql("DESCRIBE HISTORY r").count() == 1


def test_labels_named_like_our_statements(scripts: SparkSession) -> None:
    scripts.sql(create("labelled"))
    scripts.sql("""
        BEGIN
          optimize: LOOP
            OPTIMIZE labelled ZORDER BY (a) OPTIONS ('num-files' = 4);
            LEAVE optimize;
          END LOOP optimize;
          vacuum: BEGIN VACUUM labelled; END vacuum;
        END""")
    assert files(scripts, "labelled") == 4


@pytest.fixture
def parts(scripts: SparkSession) -> SparkSession:
    scripts.sql("CREATE TABLE parts (id BIGINT, p INT) USING parquet PARTITIONED BY (p)")
    scripts.sql("INSERT INTO parts SELECT /*+ REPARTITION(4) */ id, 1 FROM range(100)")
    scripts.sql("INSERT INTO parts SELECT /*+ REPARTITION(4) */ id, 2 FROM range(100)")
    return scripts


def test_a_variable_in_where(parts: SparkSession) -> None:
    parts.sql("BEGIN DECLARE x INT = 1; OPTIMIZE parts WHERE p = x; END")
    assert files(parts, "parts") == 5


@pytest.mark.skipif(MINOR == "4.0", reason="Spark 4.0 refuses our statements in a script with parameters")
def test_a_parameter_in_where(parts: SparkSession) -> None:
    parts.sql("BEGIN SELECT 1; OPTIMIZE parts WHERE p = :x; END", args={"x": 2})
    assert files(parts, "parts") == 5
