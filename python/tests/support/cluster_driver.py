"""Runs one statement on a cluster. Its only argument describes it as JSON, and it prints the outcome as JSON."""

import json
import sys
from typing import Any


def main(asked: dict[str, Any]) -> None:
    from comparison import ERRORS, condition_of
    from pyspark.sql import SparkSession

    from spark_zorder import configure_spark

    builder = (
        SparkSession.builder.master(asked["master"])
        .config("spark.driver.memory", "512m")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.executor.memory", "512m")
        .config("spark.executor.cores", "1")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.files.maxPartitionBytes", "4m")
        .config("spark.sql.catalogImplementation", "in-memory")
        .config("spark.sql.warehouse.dir", asked["work"] + "/warehouse")
        .config("spark.eventLog.enabled", "true")
        .config("spark.eventLog.dir", asked["work"])
        .config("spark.eventLog.compress", "false")
        .config("spark.eventLog.rolling.enabled", "false")
        .config("spark.scheduler.minRegisteredResourcesRatio", "1.0")
    )
    for name, value in asked["conf"].items():
        builder = builder.config(name, value)
    spark = configure_spark(builder).getOrCreate()
    answer: dict[str, Any] = {"error": None, "message": ""}
    try:
        spark.sql(asked["sql"]).collect()
    except ERRORS as error:
        answer = {"error": condition_of(error), "message": str(error)[:3000]}
    print(json.dumps(answer), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
