"""Starts a session with the extension on this machine."""

import os
from collections.abc import Mapping
from pathlib import Path

from pyspark.sql import SparkSession

from spark_zorder import configure_spark

SMALL = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "2"}
"""Settings of a process that runs beside others."""


def local_session(work: Path, hive: bool = False, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Start a session whose warehouse, scratch files and metastore, if any, are in a folder."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.master("local[2]")
        .appName("spark-zorder tests")
        .config("spark.driver.memory", "2g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
        .config("spark.local.dir", str(work / "scratch"))
    )
    if hive:
        metastore = f"jdbc:derby:;databaseName={work}/metastore;create=true"
        builder = (
            builder.config("spark.hadoop.javax.jdo.option.ConnectionURL", metastore)
            .config("spark.driver.extraJavaOptions", f"-Dderby.system.home={work}")
            .config("spark.hadoop.hive.exec.dynamic.partition.mode", "nonstrict")
            .enableHiveSupport()
        )
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    session = configure_spark(builder).getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
