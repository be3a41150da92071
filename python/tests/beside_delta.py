"""A program for an older Spark, with Delta Lake and this extension in one session: prints what statements answer.

    beside_delta.py <our jar> <an empty folder>

The last line is a JSON object: for each name of a statement its rows as objects, or `{"error": ..}`.
"""

from __future__ import annotations

import json
import sys
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"


def session(jar: str, folder: str) -> SparkSession:
    """Delta's settings as its documentation has them, and ours behind."""
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", jar)
        .config("spark.jars.packages", DELTA)
        .config("spark.sql.extensions", "io.delta.sql.DeltaSparkSessionExtension,org.sparkzorder.ZOrderSparkExtension")
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.warehouse.dir", f"{folder}/warehouse")
        .config("spark.sql.catalogImplementation", "in-memory")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.databricks.delta.snapshotPartitions", "2")
        .config("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


class Answers:
    """Answers of statements by their names."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.found: dict[str, Any] = {}

    def ask(self, name: str, sql: str) -> None:
        """Run a statement."""
        try:
            rows = self.spark.sql(sql).collect()
            self.found[name] = json.loads(json.dumps([row.asDict(recursive=True) for row in rows], default=str))
        except PySparkException as error:
            self.found[name] = {"error": f"{type(error).__name__} [{error.getCondition()}] {str(error)[:1000]}"}


def main(jar: str, folder: str) -> None:
    """Run all statements."""
    spark = session(jar, folder)
    spark.sparkContext.setLogLevel("ERROR")
    rows = spark.range(2000).selectExpr("id", "id * 7919 % 1000 AS a", "id * 104729 % 1000 AS b").repartition(4)
    answers = Answers(spark)
    ask = answers.ask

    # Delta's tables, by each kind of name that Delta takes.
    rows.write.format("delta").saveAsTable("named")
    rows.write.format("delta").save(f"{folder}/format")
    rows.write.format("delta").save(f"{folder}/quoted")
    for name, target in (
        ("named", "named"),
        ("format", f"delta.`{folder}/format`"),
        ("quoted", f"'{folder}/quoted'"),
    ):
        source = "named" if name == "named" else f"delta.`{folder}/{name}`"
        ask(f"{name} optimize", f"OPTIMIZE {target} ZORDER BY (a, b)")
        ask(f"{name} files", f"SELECT count(DISTINCT f) AS files FROM (SELECT input_file_name() AS f FROM {source})")
        ask(f"{name} again", f"OPTIMIZE {target}")
        ask(f"{name} history", f"DESCRIBE HISTORY {target}")
        ask(f"{name} restore", f"RESTORE TABLE {source} TO VERSION AS OF 0")
        ask(
            f"{name} files restored",
            f"SELECT count(DISTINCT f) AS files FROM (SELECT input_file_name() AS f FROM {source})",
        )
        ask(f"{name} dry vacuum", f"VACUUM {target} RETAIN 0 HOURS DRY RUN")
        ask(f"{name} vacuum", f"VACUUM {target} RETAIN 0 HOURS")
        ask(f"{name} rows", f"SELECT count(*) AS n, sum(id) AS s FROM {source}")
        ask(f"{name} point", f"SELECT id FROM {source} WHERE a = 737 AND b = 367")
        ask(f"{name} index", f"CREATE SKIPPING INDEX ON {target}")

    # Ours.
    rows.write.format("parquet").saveAsTable("plain")
    rows.write.parquet(f"{folder}/plain_format")
    rows.write.orc(f"{folder}/plain_quoted")
    for name, target, source in (
        ("plain", "plain", "plain"),
        ("plain_format", f"parquet.`{folder}/plain_format`", f"parquet.`{folder}/plain_format`"),
        ("plain_quoted", f"'{folder}/plain_quoted'", f"orc.`{folder}/plain_quoted`"),
    ):
        ask(f"{name} optimize", f"OPTIMIZE {target} ZORDER BY (a, b) OPTIONS ('num-files' = '8')")
        ask(f"{name} history", f"DESCRIBE HISTORY {target}")
        ask(f"{name} skipping", f"EXPLAIN SKIPPING SELECT * FROM {source} WHERE a = 737 AND b = 367")
        ask(f"{name} point", f"SELECT id FROM {source} WHERE a = 737 AND b = 367")
        ask(f"{name} restore", f"RESTORE {target} TO VERSION AS OF 0")
        ask(f"{name} rows", f"SELECT count(*) AS n, sum(id) AS s FROM {source}")
        ask(f"{name} vacuum", f"VACUUM {target} RETAIN 0 HOURS")
        # As Delta's users write it.
        ask(f"{name} again", f"OPTIMIZE {target} ZORDER BY a, b")

    # Nobody's.
    rows.write.format("json").saveAsTable("j")
    spark.sql("CREATE VIEW v AS SELECT * FROM plain")
    spark.sql("CREATE TEMPORARY VIEW tv AS SELECT * FROM plain")
    for name in ("j", "v", "tv", "nowhere"):
        ask(f"{name} optimize", f"OPTIMIZE {name} ZORDER BY (a)")
        ask(f"{name} options", f"OPTIMIZE {name} ZORDER BY (a WEIGHT 2) OPTIONS ('num-files' = '8')")
        ask(f"{name} index", f"CREATE SKIPPING INDEX ON {name}")
        ask(f"{name} history", f"DESCRIBE HISTORY {name}")
    print(json.dumps(answers.found))


if __name__ == "__main__":
    main(*sys.argv[1:])
