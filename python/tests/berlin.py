"""Runs OPTIMIZE in a JVM whose time zone has daylight saving: `berlin.py <jar> <folder>`."""

from __future__ import annotations

import sys

from answers import Answers
from pyspark.sql import SparkSession

jar, folder = sys.argv[1:]
spark = (
    SparkSession.builder.master("local[1]")
    .config("spark.jars", jar)
    .config("spark.sql.extensions", "org.sparkzorder.ZOrderSparkExtension")
    .config("spark.driver.extraJavaOptions", "-Duser.timezone=Europe/Berlin")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
answers = Answers(spark)
answers.ask("optimize", f"OPTIMIZE orc.`{folder}` ZORDER BY (k) OPTIONS ('num-files' = 1)")
answers.tell()
spark.stop()
