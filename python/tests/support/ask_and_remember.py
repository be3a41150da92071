"""Asks what filters read, in a session that keeps what they find: `ask_and_remember.py <jar> <folder> <filter>..`."""

from __future__ import annotations

import sys

from answers import Answers
from pyspark.sql import SparkSession

jar, folder, *filters = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", jar)
    .config("spark.sql.extensions", "org.sparkzorder.ZOrderSparkExtension")
    .config("spark.zorder.memory.enabled", "true")
    .config("spark.zorder.memory.keep", "true")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
answers = Answers(spark)
for condition in filters:
    query = f"SELECT id FROM parquet.`{folder}` WHERE {condition}"
    answers.ask(condition, query)
    answers.ask(f"files of {condition}", f"EXPLAIN SKIPPING ANALYZE {query}")
answers.tell()
spark.stop()
