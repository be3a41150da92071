"""A program for spark-submit: clusters a folder, asks for one value, and writes what it found as JSON.

    submitted_program.py <the folder, which it makes if there is none> <the file for the answer, on this host>
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession


def main(table: str, answer: str) -> None:
    """Run the statements."""
    spark = SparkSession.builder.getOrCreate()
    rows = spark.range(4000).selectExpr("id", "id * 7919 % 1000 AS a")
    rows.repartition(4).write.mode("ignore").parquet(table)
    spark.sql(f"OPTIMIZE parquet.`{table}` ZORDER BY (a) OPTIONS ('num-files' = '8')").collect()
    query = f"SELECT id FROM parquet.`{table}` WHERE a = 17"
    [scan] = spark.sql(f"EXPLAIN SKIPPING {query}").collect()
    found = {
        "master": spark.conf.get("spark.master"),
        "mode": spark.conf.get("spark.submit.deployMode"),
        "files": [scan.files_kept, scan.files_total],
        "ids": sorted(row.id for row in spark.sql(query).collect()),
        "rows": spark.read.parquet(table).selectExpr("count(*)", "count(DISTINCT id)").first(),
    }
    Path(answer).write_text(json.dumps(found))
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
