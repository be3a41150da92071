"""A program for an older Spark, with Delta Lake, Iceberg and this extension in one session: prints answers.

    beside_both.py <jars, with commas between> <an empty folder>

The last line has JSON: for each order, such as `delta ours iceberg`, the rows of each statement, or `{"error": ..}`.
"""

import json
import sys
from itertools import permutations
from typing import Any

from answers import Answers, numbers, session
from pyspark.sql import SparkSession

EXTENSIONS = {
    "ours": "org.sparkzorder.ZOrderSparkExtension",
    "delta": "io.delta.sql.DeltaSparkSessionExtension",
    "iceberg": "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
}
SETTINGS = {
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.sql.catalog.ice": "org.apache.iceberg.spark.SparkCatalog",
    "spark.sql.catalog.ice.type": "hadoop",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.databricks.delta.snapshotPartitions": "1",
    "spark.sql.sources.parallelPartitionDiscovery.parallelism": "1",
}
"""Those of docs/readers.md, and small sizes."""


def answers_of_one(spark: SparkSession) -> dict[str, Any]:
    """The same statements on a table of each kind."""
    numbers(spark)
    select = "SELECT /*+ REPARTITION(4) */ * FROM numbers"
    spark.sql(f"CREATE TABLE plain USING parquet AS {select}")
    spark.sql(f"CREATE TABLE d USING delta AS {select}")
    spark.sql("CREATE NAMESPACE ice.db")
    spark.sql(f"CREATE TABLE ice.db.t USING iceberg AS {select}")
    spark.sql("CREATE VIEW v AS SELECT * FROM plain")

    answers = Answers(spark)
    ask = answers.ask
    ask("plain optimize", "OPTIMIZE plain ZORDER BY (a, b) OPTIONS ('num-files' = '8')")
    ask("plain history", "DESCRIBE HISTORY plain")
    answers.ask_plan()
    ask("plain clustering", "SHOW CLUSTERING")
    ask("plain vacuum", "VACUUM plain")
    ask("plain restore", "RESTORE plain TO VERSION AS OF 0")
    ask("delta optimize", "OPTIMIZE d ZORDER BY (a, b)")
    ask("delta history", "DESCRIBE HISTORY d")
    ask("delta vacuum", "VACUUM d")
    ask("delta restore", "RESTORE TABLE d TO VERSION AS OF 0")
    ask("delta index", "CREATE SKIPPING INDEX ON d")
    ask("iceberg ordered", "ALTER TABLE ice.db.t WRITE ORDERED BY a, b")
    ask(
        "iceberg rewrite",
        "CALL ice.system.rewrite_data_files(table => 'db.t', strategy => 'sort', sort_order => 'zorder(a, b)',"
        " options => map('rewrite-all', 'true'))",
    )
    for statement in ("OPTIMIZE", "VACUUM", "CREATE SKIPPING INDEX ON"):
        ask(f"iceberg {statement}", f"{statement} ice.db.t")
        ask(f"view {statement}", f"{statement} v")
        ask(f"nowhere {statement}", f"{statement} nowhere")
    for table in ("plain", "d", "ice.db.t"):
        answers.ask_rows(table)
    ask("all rows", "SELECT count(*) AS n, sum(id) AS s FROM plain JOIN d USING (id) JOIN ice.db.t USING (id)")
    return answers.found


def main(jars: str, folder: str) -> None:
    found = {}
    for order in permutations(EXTENSIONS):
        name = " ".join(order)
        folders = {"spark.sql.catalog.ice.warehouse": "ice", "spark.sql.warehouse.dir": "warehouse"}
        own = {key: f"{folder}/{'-'.join(order)}/{value}" for key, value in folders.items()}
        spark = session(jars, SETTINGS | own, *(EXTENSIONS[each] for each in order))
        assert spark.conf.get("spark.sql.extensions") == ",".join(EXTENSIONS[each] for each in order)
        found[name] = answers_of_one(spark)
        spark.stop()
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
