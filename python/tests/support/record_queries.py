"""Runs three queries in a session that records them, and ends at once: `record_queries.py <jar> <folder>`."""

from __future__ import annotations

import sys

from answers import Answers
from pyspark.sql import SparkSession

jar, folder = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", jar)
    .config("spark.sql.extensions", "org.sparkzorder.ZOrderSparkExtension")
    .config("spark.zorder.workload.enabled", "true")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
answers = Answers(spark)
for n in range(3):
    answers.ask(f"a = {n}", f"SELECT count(*) FROM parquet.`{folder}` WHERE a = {n}")
answers.tell()
spark.stop()
