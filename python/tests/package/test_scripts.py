"""Our statements in SQL scripts, `BEGIN .. END`, by EXECUTE IMMEDIATE."""

from pathlib import Path

import pytest
from pyspark.errors import ParseException
from pyspark.sql import SparkSession
from spark_versions import PYSPARK_MINOR

OLD = pytest.mark.skipif(PYSPARK_MINOR == "3.5", reason="Spark 3.5 has no SQL scripts")
pytestmark = [pytest.mark.older_sparks, OLD]


@pytest.fixture
def scripts(spark: SparkSession, database: Path) -> SparkSession:
    """A session that takes scripts. Spark 4.0 does so only if asked."""
    spark.conf.set("spark.sql.scripting.enabled", "true")
    return spark


def create(name: str) -> str:
    return (
        f"CREATE TABLE {name} USING parquet AS SELECT /*+ REPARTITION(8) */ id, pmod(hash(id), 97) a FROM range(2000)"
    )


def run(statement: str) -> str:
    return f'EXECUTE IMMEDIATE "{statement}"'


def files(spark: SparkSession, name: str) -> int:
    return len(spark.table(name).inputFiles())


STATEMENTS = [
    "OPTIMIZE t ZORDER BY (a)",
    "OPTIMIZE '/t'",
    "OPTIMIZE parquet.`/t` ZORDER BY (a) OPTIONS ('num-files' = 4)",
    "CREATE SKIPPING INDEX ON t",
    "CREATE OR REPLACE SKIPPING INDEX ON t (a)",
    "REFRESH SKIPPING INDEX ON t",
    "DESCRIBE SKIPPING INDEX ON t",
    "DROP SKIPPING INDEX ON t",
    "CLEAR SKIPPING MEMORY ON t",
    "DESC CLUSTERING t (a)",
    "SHOW CLUSTERING",
    "SHOW OPERATIONS",
    "EXPLAIN SKIPPING SELECT * FROM t WHERE a = 3",
    "RESTORE TABLE t TO VERSION AS OF 0",
    "VACUUM t DRY RUN",
]


@pytest.mark.test_rest
@pytest.mark.parametrize("statement", STATEMENTS)
@pytest.mark.parametrize(
    "script",
    [
        "BEGIN CREATE TABLE never (a INT); {}; END",
        "BEGIN CREATE TABLE never (a INT); IF 1 = 1 THEN\n  {}; END IF; END",
        "BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION {}; CREATE TABLE never (a INT); END",
    ],
)
def test_a_statement_by_itself_is_refused_with_what_to_do(scripts: SparkSession, script: str, statement: str) -> None:
    with pytest.raises(ParseException) as error:
        scripts.sql(script.format(statement))
    assert error.value.getCondition() == "PARSE_SYNTAX_ERROR"
    word = statement.split()[0]
    assert f": a script runs a statement of spark-zorder by EXECUTE IMMEDIATE '{word} ..'." in str(error.value)
    assert not scripts.catalog.tableExists("never")


@pytest.mark.parametrize(
    "script",
    ["BEGIN\n  EXECUTE IMMEDIATE 'OPTIMIZE t';\n  SELECT 1 +;\nEND", "BEGIN\n  optimize: LOOP\n SELECT 1 +;\nEND"],
)
def test_another_mistake_of_a_script_is_told_as_by_spark(scripts: SparkSession, script: str) -> None:
    with pytest.raises(ParseException) as error:
        scripts.sql(script)
    assert "line 3" in str(error.value)
    assert "spark-zorder" not in str(error.value)


def test_a_script_returns_what_its_last_query_returns(scripts: SparkSession) -> None:
    scripts.sql(create("t"))
    optimize = run("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = 4)")
    result = scripts.sql(f"BEGIN {optimize}; SELECT count(*) AS n FROM t; END")
    assert result.first() == (2000,)
    assert files(scripts, "t") == 4
    assert scripts.sql("DESCRIBE HISTORY t").count() == 1


def test_a_text_that_is_executed(scripts: SparkSession) -> None:
    scripts.sql(create("t"))
    result = scripts.sql("EXECUTE IMMEDIATE 'OPTIMIZE t ZORDER BY (a) OPTIONS (\"num-files\" = 4)'")
    assert result.collect()[0]["metrics"]["numFilesAdded"] == 4
    scripts.sql("BEGIN DECLARE x STRING DEFAULT 'OPTIMIZE ' || 't' || ' FULL ZORDER BY (id)'; EXECUTE IMMEDIATE x; END")
    assert "id" in scripts.sql("DESCRIBE HISTORY t").collect()[0]["operationParameters"]["zOrderBy"]
