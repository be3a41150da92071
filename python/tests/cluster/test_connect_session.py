"""A session of Spark Connect, whose server runs in the JVM of all tests. `test_connect.py` has servers of their own."""

import sys
from pathlib import Path

from processes import free_port, printed
from pyspark.sql import SparkSession

CLIENT = """
import sys
from pyspark.sql import SparkSession
from spark_zorder import ZOrderTable

spark = SparkSession.builder.remote(sys.argv[1]).getOrCreate()
path = sys.argv[2]
spark.range(4000).selectExpr("id", "hash(id) % 100 AS a").repartition(4).write.parquet(path)
table = ZOrderTable.for_path(spark, path)
table.optimize(zorder_by=["a"], num_files=4)
query = spark.read.parquet(path).where("a = 5")
[scan] = spark.sql(f"EXPLAIN SKIPPING SELECT * FROM parquet.`{path}` WHERE a = 5").collect()
rows = query.count(), spark.range(4000).selectExpr("hash(id) % 100 AS a").where("a = 5").count()
print(type(spark).__module__, scan.files_total, scan.files_kept, *rows)
"""


def test_a_connect_session_optimizes_and_skips(spark: SparkSession, tmp_path: Path) -> None:
    assert spark._jvm is not None
    service = spark._jvm.org.apache.spark.sql.connect.service.SparkConnectService
    port = free_port()
    spark.sparkContext._conf.set("spark.connect.grpc.binding.port", str(port))
    service.start(spark.sparkContext._jsc.sc())
    try:
        out = printed([sys.executable, "-c", CLIENT, f"sc://127.0.0.1:{port}", tmp_path / "t"])
    finally:
        service.stop(spark._jvm.scala.Option.empty(), spark._jvm.scala.Option.empty())
    module, total, kept, found, expected = out.split()
    assert (module, total, kept) == ("pyspark.sql.connect.session", "4", "1")
    assert found == expected
