"""A program for an older Spark, with Delta Lake and this extension in one session: prints what statements answer.

    beside_delta.py <jars, with commas between> <an empty folder> <which is named last, and asked first: ours or delta>

The last line has JSON: for each name of a statement its rows as objects, or `{"error": ..}`.
"""

import sys

from answers import OURS, Answers, numbers, session

EXTENSIONS = ["io.delta.sql.DeltaSparkSessionExtension", OURS]
SETTINGS = {
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.databricks.delta.snapshotPartitions": "1",
    # VACUUM lists folders in as many tasks.
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
    "spark.databricks.delta.retentionDurationCheck.enabled": "false",
}
"""Those of Delta's documentation, and small sizes."""


def ask_about_deltas(answers: Answers, folder: str) -> None:
    """Delta's tables, by each kind of name that Delta takes."""
    ask, spark = answers.ask, answers.spark
    for name, target, source in (
        ("named", "named", "named"),
        ("format", f"delta.`{folder}/format`", f"delta.`{folder}/format`"),
        ("quoted", f"'{folder}/quoted'", f"delta.`{folder}/quoted`"),
    ):
        rows = spark.table("numbers").repartition(4).write.format("delta")
        if name == "named":
            rows.saveAsTable("named")
        else:
            rows.save(f"{folder}/{name}")
        ask(f"{name} optimize", f"OPTIMIZE {target} ZORDER BY (a, b)")
        ask(f"{name} history", f"DESCRIBE HISTORY {target}")
        answers.ask_rows(name, source)
        ask(f"{name} index", f"CREATE SKIPPING INDEX ON {target}")
    ask("named again", "OPTIMIZE spark_catalog.default.named")
    ask("named limited", "DESCRIBE HISTORY named LIMIT 1")
    ask("named restore", "RESTORE TABLE named TO VERSION AS OF 0")
    ask("named files", "SELECT count(DISTINCT f) AS files FROM (SELECT input_file_name() AS f FROM named)")
    ask("named dry vacuum", "VACUUM named RETAIN 0 HOURS DRY RUN")
    ask("named vacuum", "VACUUM named RETAIN 0 HOURS")
    answers.ask_rows("named again", "named")
    ask("quoted vacuum", f"VACUUM '{folder}/quoted' RETAIN 0 HOURS DRY RUN")
    # Rows in an order of ours.
    spark.sql("CREATE TABLE hinted USING delta AS SELECT /*+ HILBERT(16, a, b) */ * FROM numbers")
    spark.table("numbers").hint("ZORDER", 16, "a", "b").write.format("delta").saveAsTable("called")
    for name in ("hinted", "called"):
        ask(
            f"{name} files",
            "SELECT count(*) AS n, min(a) AS a_min, max(a) AS a_max, min(b) AS b_min, max(b) AS b_max"
            f" FROM {name} GROUP BY _metadata.file_name",
        )
        answers.ask_rows(name)
    # Its files, as if they were plain ones.
    ask("disguised optimize", f"OPTIMIZE parquet.`{folder}/format` ZORDER BY (a, b)")
    ask("disguised vacuum", f"VACUUM parquet.`{folder}/format`")
    ask("disguised index", f"CREATE SKIPPING INDEX ON parquet.`{folder}/format`")


def ask_about_ours(answers: Answers, folder: str) -> None:
    """Plain tables. The first statements are such as Delta's grammar has, too."""
    ask, spark = answers.ask, answers.spark
    rows = spark.table("numbers").repartition(4)
    rows.write.format("parquet").saveAsTable("plain")
    rows.write.parquet(f"{folder}/plain_format")
    rows.write.orc(f"{folder}/plain_quoted")
    for name, target, source in (
        ("plain", "plain", "plain"),
        ("plain_format", f"parquet.`{folder}/plain_format`", f"parquet.`{folder}/plain_format`"),
        ("plain_quoted", f"'{folder}/plain_quoted'", f"orc.`{folder}/plain_quoted`"),
    ):
        ask(f"{name} optimize", f"OPTIMIZE {target} ZORDER BY a, b")
        ask(f"{name} history", f"DESCRIBE HISTORY {target}")
        answers.ask_rows(name, source)
    ask("plain into 8", "OPTIMIZE plain FULL ZORDER BY (a, b) OPTIONS ('num-files' = '8')")
    answers.ask_plan()
    answers.ask_rows("plain into 8", "plain")
    ask("plain dry vacuum", "VACUUM plain RETAIN 0 HOURS DRY RUN")
    ask("plain restore", "RESTORE plain TO VERSION AS OF 1")
    ask("plain vacuum", "VACUUM plain RETAIN 0 HOURS")
    ask("plain again", "OPTIMIZE plain")
    parts = spark.table("numbers").selectExpr("*", "id % 2 AS day").repartition(4, "id")
    parts.write.format("parquet").partitionBy("day").saveAsTable("parts")
    ask("parts optimize", "OPTIMIZE spark_catalog.default.parts WHERE day = 1 ZORDER BY (a, b)")
    ask("parts index", "CREATE OR REPLACE SKIPPING INDEX ON parts")
    answers.ask_rows("parts")


def ask_about_others(answers: Answers, folder: str) -> None:
    """Nobody's."""
    ask, spark = answers.ask, answers.spark
    spark.table("numbers").write.format("json").saveAsTable("j")
    spark.sql("CREATE VIEW v AS SELECT * FROM plain")
    spark.sql("CREATE TEMPORARY VIEW tv AS SELECT * FROM plain")
    for name, target in (
        ("json", "j"),
        ("json folder", f"json.`{folder}/warehouse/j`"),
        ("view", "v"),
        ("temporary view", "tv"),
        ("nowhere", "nowhere"),
    ):
        ask(f"{name} optimize", f"OPTIMIZE {target} ZORDER BY (a)")
        ask(f"{name} options", f"OPTIMIZE {target} ZORDER BY (a WEIGHT 2) OPTIONS ('num-files' = '8')")
        ask(f"{name} history", f"DESCRIBE HISTORY {target}")
        ask(f"{name} vacuum", f"VACUUM {target}")
        ask(f"{name} restore", f"RESTORE {target} TO VERSION AS OF 0")
        ask(f"{name} index", f"CREATE SKIPPING INDEX ON {target}")


def main(jars: str, folder: str, last: str) -> None:
    own = {"spark.sql.warehouse.dir": f"{folder}/warehouse"}
    spark = session(jars, SETTINGS | own, *(EXTENSIONS if last == "ours" else EXTENSIONS[::-1]))
    numbers(spark)
    answers = Answers(spark)
    ask_about_deltas(answers, folder)
    ask_about_ours(answers, folder)
    ask_about_others(answers, folder)
    answers.tell()


if __name__ == "__main__":
    main(*sys.argv[1:])
