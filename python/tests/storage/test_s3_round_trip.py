"""A table on S3 in the session of all tests: OPTIMIZE, a lookup and RESTORE."""

from functools import partial
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from s3_server import s3_server

TABLE = "parquet.`s3a://bucket/t`"
ROWS = 2000


def test_optimize_query_and_restore_on_s3(spark: SparkSession, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    hadoop = spark.sparkContext._jsc.hadoopConfiguration()

    def rows(condition: str = "true") -> tuple[int, int]:
        [(count, ids)] = spark.sql(f"SELECT count(*), sum(id) FROM {TABLE} WHERE {condition}").collect()
        return count, ids

    with s3_server() as server:
        for key, value in server.settings().items():
            hadoop.set(key.removeprefix("spark.hadoop."), value)
            request.addfinalizer(partial(hadoop.unset, key.removeprefix("spark.hadoop.")))
        # Spark's own writer would take more requests than the statements.
        frame = spark.range(ROWS).selectExpr("id", "hash(id) % 100 AS a")
        frame.repartition(3).write.parquet(str(tmp_path / "t"))
        for file in (tmp_path / "t").glob("part-*"):
            server.ask("PUT", f"/bucket/t/{file.name}", file.read_bytes())
        whole, some = rows(), rows("a = 5")
        spark.sql(f"OPTIMIZE {TABLE} ZORDER BY (a) OPTIONS ('num-files' = '4')")
        [scan] = spark.sql(f"EXPLAIN SKIPPING SELECT * FROM {TABLE} WHERE a = 5").collect()
        assert (scan.files_total, scan.files_kept) == (4, 1)
        assert (rows(), rows("a = 5")) == (whole, some)
        spark.sql(f"RESTORE {TABLE} TO VERSION AS OF 0")
        assert (rows(), rows("a = 5")) == (whole, some)
        assert server.open_uploads() == []
