"""A program for an older Spark, with Iceberg and this extension in one session: prints what statements answer.

    beside_iceberg.py <jars, with commas between> <an empty folder> <named last, and asked first: ours or iceberg>

The last line has JSON: for each name of a statement its rows as objects, or `{"error": ..}`.
"""

import sys

from answers import OURS, Answers, numbers, session

EXTENSIONS = ["org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions", OURS]


def settings(folder: str) -> dict[str, str]:
    """A catalog of Iceberg's own, `ice`, and Spark's catalog with Iceberg's tables in it."""
    found = {"spark.sql.warehouse.dir": f"{folder}/warehouse", "spark.sql.catalogImplementation": "in-memory"}
    for name, kind in (("ice", "SparkCatalog"), ("spark_catalog", "SparkSessionCatalog")):
        found[f"spark.sql.catalog.{name}"] = f"org.apache.iceberg.spark.{kind}"
        found[f"spark.sql.catalog.{name}.type"] = "hadoop"
        found[f"spark.sql.catalog.{name}.warehouse"] = f"{folder}/{name}"
    return found


def main(jars: str, folder: str, last: str) -> None:
    spark = session(jars, settings(folder), *(EXTENSIONS if last == "ours" else EXTENSIONS[::-1]))
    rows = numbers(spark)
    answers = Answers(spark)
    ask = answers.ask

    # Iceberg's statements of Iceberg's table.
    spark.sql("CREATE NAMESPACE ice.db")
    spark.sql("CREATE TABLE ice.db.t USING iceberg AS SELECT * FROM numbers")
    ask("ordered", "ALTER TABLE ice.db.t WRITE ORDERED BY a, b")
    ask("partitioned", "ALTER TABLE ice.db.t ADD PARTITION FIELD bucket(2, id)")
    ask("branch", "ALTER TABLE ice.db.t CREATE BRANCH side")
    ask(
        "rewrite",
        "CALL ice.system.rewrite_data_files(table => 'db.t', strategy => 'sort', sort_order => 'zorder(a, b)',"
        " options => map('rewrite-all', 'true'))",
    )
    ask("history", "SELECT count(*) AS n FROM ice.db.t.history")
    answers.ask_rows("named", "ice.db.t")

    # Ours, and tables that are nobody's of those who have such statements.
    spark.sql("CREATE TABLE plain USING parquet AS SELECT /*+ REPARTITION(4) */ * FROM numbers")
    ask("plain optimize", "OPTIMIZE plain ZORDER BY (a, b) OPTIONS ('num-files' = '8')")
    answers.ask_plan()
    answers.ask_rows("plain")
    spark.sql("CREATE TABLE mixed USING iceberg AS SELECT * FROM numbers")
    for name, target in (
        ("named", "ice.db.t"),
        ("mixed", "mixed"),
        ("folder", f"iceberg.`{folder}/ice/db/t`"),
        ("disguised", f"'{folder}/ice/db/t'"),
    ):
        ask(f"{name} optimize", f"OPTIMIZE {target} ZORDER BY (a)")
        ask(f"{name} index", f"CREATE SKIPPING INDEX ON {target}")
        ask(f"{name} vacuum", f"VACUUM {target}")
    # Rows in an order of ours, in a table of Iceberg's.
    spark.sql("CREATE TABLE ice.db.hinted USING iceberg AS SELECT /*+ HILBERT(16, a, b) */ * FROM numbers")
    rows.hint("ZORDER", 16, "a", "b").writeTo("ice.db.called").using("iceberg").create()
    for name in ("hinted", "called"):
        ask(
            f"{name} files",
            "SELECT record_count AS n,"
            " readable_metrics.a.lower_bound AS a_min, readable_metrics.a.upper_bound AS a_max,"
            " readable_metrics.b.lower_bound AS b_min, readable_metrics.b.upper_bound AS b_max"
            f" FROM ice.db.{name}.files",
        )
        answers.ask_rows(name, f"ice.db.{name}")
    spark.sql("USE ice.db")
    ask("used optimize", "OPTIMIZE t ZORDER BY (a)")
    ask("used history", "DESCRIBE HISTORY t")
    ask("used plain", "OPTIMIZE spark_catalog.default.plain")
    spark.sql("CREATE TABLE history (id BIGINT, made STRING) USING iceberg")
    ask("used column", "DESCRIBE history made")
    answers.tell()


if __name__ == "__main__":
    main(*sys.argv[1:])
