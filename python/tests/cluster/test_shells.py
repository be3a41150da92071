"""Ways to start Spark from a command line, with the jar that `python -m spark_zorder jar` prints."""

from pathlib import Path

import pytest
from processes import printed, ran
from servers import BIN, confs
from submit import LOOKUP, LOOKUP_PROGRAM

from spark_zorder import EXTENSION, jar_path


@pytest.fixture
def arguments() -> list[str]:
    settings = {"spark.sql.extensions": EXTENSION, "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": "2"}
    return ["--master", "local[2]", "--jars", str(jar_path()), *confs(settings)]


@pytest.mark.test_all
def test_pyspark_shell(tmp_path: Path, arguments: list[str]) -> None:
    command, script = [BIN / "pyspark", *arguments], LOOKUP + "\nexit()\n"
    # Without a terminal, Python runs as a program and skips the shell's start-up file.
    assert "kept 1 rows 7" in printed(command, tmp_path, stdin=script, PYSPARK_DRIVER_PYTHON_OPTS="-i")


@pytest.mark.test_rest
def test_spark_submit(tmp_path: Path, arguments: list[str]) -> None:
    program = tmp_path / "program.py"
    program.write_text(LOOKUP_PROGRAM)
    assert "kept 1 rows 7" in printed([BIN / "spark-submit", *arguments, program], tmp_path)


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
    settings = {"spark.sql.warehouse.dir": f"{tmp_path}/warehouse", "spark.sql.catalogImplementation": "in-memory"}
    done = ran([BIN / "spark-sql", *arguments, *confs(settings), "-f", script], tmp_path)
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
    out = printed([BIN / "spark-shell", *arguments], tmp_path, stdin=program)
    assert "kept 1 rows 7" in out
    assert "summary 8 → 8 files, " in out
    assert "partitions 4" in out
