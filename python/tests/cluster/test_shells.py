"""Ways to start Spark from a command line, with the jar that `python -m spark_zorder jar` prints."""

from __future__ import annotations

from pathlib import Path

import pytest
from commands import run, started
from servers import BIN

from spark_zorder import EXTENSION, jar_path

WRITE = """
import os
path = os.path.abspath("t")
spark.range(4000).selectExpr("id", "pmod(hash(id), 1000) AS a").repartition(8).write.parquet(path)
"""

SCRIPT = f"""
{WRITE}
spark.sql(f"OPTIMIZE parquet.`{{path}}` ZORDER BY (a) OPTIONS ('num-files' = '8')")
[scan] = spark.sql(f"EXPLAIN SKIPPING SELECT * FROM parquet.`{{path}}` WHERE a = 17").collect()
print("kept", scan.files_kept, "rows", spark.sql(f"SELECT * FROM parquet.`{{path}}` WHERE a = 17").count())
"""


@pytest.fixture
def arguments() -> list[str]:
    """The arguments of each command."""
    settings = {
        "spark.sql.extensions": EXTENSION,
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    confs = [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    return ["--master", "local[2]", "--jars", str(jar_path()), *confs]


@pytest.mark.test_all
def test_pyspark_shell(tmp_path: Path, arguments: list[str]) -> None:
    assert "kept 1 rows 7" in run([str(BIN / "pyspark"), *arguments], tmp_path, SCRIPT + "\nexit()\n")


@pytest.mark.test_rest
def test_spark_submit(tmp_path: Path, arguments: list[str]) -> None:
    program = tmp_path / "program.py"
    program.write_text("from pyspark.sql import SparkSession\nspark = SparkSession.builder.getOrCreate()\n" + SCRIPT)
    assert "kept 1 rows 7" in run([str(BIN / "spark-submit"), *arguments, str(program)], tmp_path)


@pytest.mark.test_all
def test_spark_sql_of_a_file(tmp_path: Path, arguments: list[str]) -> None:
    script = tmp_path / "script.sql"
    # A comment and a statement on two lines are as usual in such files.
    script.write_text(
        """-- Every night
        CREATE TABLE t USING parquet AS SELECT /*+ REPARTITION(8) */ id, pmod(hash(id), 1000) AS a FROM range(4000);
        OPTIMIZE t
          ZORDER BY (a) OPTIONS ('num-files' = '8'); -- packs files, too
        OPTIMIZE t ZORDER BY (nobody);
        SELECT 'never asked';
        """
    )
    settings = ["--conf", f"spark.sql.warehouse.dir={tmp_path}/warehouse"]
    settings += ["--conf", "spark.sql.catalogImplementation=in-memory"]
    done = started([str(BIN / "spark-sql"), *arguments, *settings, "-f", str(script)], tmp_path)
    assert "A lookup on `a` reads 1 of 8 files, before: 8 of 8" in done.stdout
    # The error ends the script, and cron sees it.
    assert done.returncode != 0
    assert "[ZORDER_COLUMN_NOT_FOUND] There is no column `nobody` in the table." in done.stderr
    assert "never asked" not in done.stdout


@pytest.mark.test_all
def test_spark_shell(tmp_path: Path, arguments: list[str]) -> None:
    program = """
val path = new java.io.File("t").getAbsolutePath
val rows = spark.range(4000).selectExpr("id", "pmod(hash(id), 1000) AS a")
rows.repartition(8).write.parquet(path)
val done = spark.sql(s"OPTIMIZE parquet.`$path` ZORDER BY (a) OPTIONS ('num-files' = '8')").head
val kept = spark.sql(s"EXPLAIN SKIPPING SELECT * FROM parquet.`$path` WHERE a = 17").head.getAs[Long]("files_kept")
println(s"kept $kept rows ${spark.read.parquet(path).where("a = 17").count}")
println("summary " + done.getAs[String]("summary"))
import org.sparkzorder.implicits._
println(s"partitions ${rows.repartitionByZOrderRange(4, $"a").rdd.getNumPartitions}")
"""
    printed = run([str(BIN / "spark-shell"), *arguments], tmp_path, program)
    assert "kept 1 rows 7" in printed
    assert "summary 8 → 8 files, " in printed
    assert "partitions 4" in printed
