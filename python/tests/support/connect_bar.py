"""`connect_bar.py URL`: a client of Spark Connect whose statement takes seconds. `test_connect.py` runs it."""

import sys

from pyspark.sql import SparkSession

from spark_zorder import ZOrderTable


def main() -> None:
    spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
    rows = "SELECT /*+ REPARTITION(8) */ id, rand(1) AS a, rand(2) AS b FROM range(3000000)"
    spark.sql(f"CREATE TABLE slow USING parquet AS {rows}")
    result = ZOrderTable(spark, "slow").optimize(["a", "b"], num_files=8)
    sys.stdout.write(f"{result.files_added}\n")


if __name__ == "__main__":
    main()
