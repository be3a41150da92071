"""Tables in an object store: S3A with a server that the test starts."""

from __future__ import annotations

import json
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from fetched_jars import fetched_jars

pytestmark = pytest.mark.extended

PORT = 15999
SERVER = Path(__file__).parents[2] / "build" / "envs" / "store" / "bin" / "moto_server"
"""The Python with the server. `make test-all` installs it."""

PROGRAM = """
import json, sys
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from spark_zorder import configure_spark, explain_skipping

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
builder.config("spark.jars", sys.argv[1])
options = {
    "endpoint": sys.argv[2], "endpoint.region": "us-east-1", "path.style.access": "true",
    "access.key": "a", "secret.key": "b", "connection.ssl.enabled": "false",
}
for key, value in options.items():
    builder.config("spark.hadoop.fs.s3a." + key, value)
spark = configure_spark(builder).getOrCreate()
rows = spark.range(1000).selectExpr("id", "id % 2 AS p", "hash(id) % 1000 AS a")
found = {}
for name, parts in (("flat", []), ("parts", ["p"])):
    root = "s3a://bucket/" + name
    rows.repartitionByRange(4, "id").write.partitionBy(*parts).parquet(root)
    path = spark._jvm.org.apache.hadoop.fs.Path(root)
    storage = path.getFileSystem(spark._jsc.sc().hadoopConfiguration())

    def files():
        left, names = storage.listFiles(path, True), []
        while left.hasNext():
            names.append(left.next().getPath().toString().removeprefix(root))
        return sorted(names)

    def refused(statement):
        before = files()
        try:
            spark.sql(statement).collect()
        except PySparkException as error:
            return [error.getCondition(), str(error), files() == before]

    first = refused(f"OPTIMIZE parquet.`{root}` ZORDER BY (a)")
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{root}`")
    later = refused(f"OPTIMIZE parquet.`{root}` ZORDER BY (a)")
    query = f"SELECT count(*) FROM parquet.`{root}` WHERE id < 10"
    [scan] = explain_skipping(spark, query).collect()
    hinted = spark.sql(f"SELECT /*+ ZORDER(2, a) */ * FROM parquet.`{root}`").rdd.getNumPartitions()
    found[name] = {
        "refused": [first, later], "rows": spark.sql(query).first()[0],
        "kept": [scan.files_kept, scan.files_total], "hinted": hinted,
    }
print("FOUND " + json.dumps(found))
"""


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    """The address of an S3 server in memory, with a bucket."""
    url = f"http://127.0.0.1:{PORT}"
    process = subprocess.Popen([SERVER, "-p", str(PORT)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(urllib.request.Request(f"{url}/bucket", method="PUT"))
                break
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.2)
        yield url
    finally:
        process.kill()
        process.wait()


def test_what_needs_renames_is_refused_at_once_and_the_rest_works(server: str, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROGRAM, ",".join(fetched_jars("store")), server]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=600)
    answers = [line for line in done.stdout.splitlines() if line.startswith("FOUND ")]
    assert answers, done.stdout + done.stderr
    for found in json.loads(answers[0].removeprefix("FOUND ")).values():
        for condition, message, untouched in found["refused"]:
            assert condition == "ZORDER_RENAME_CHANGES_FILES"
            assert "CREATE SKIPPING INDEX" in message
            assert untouched
        assert found["rows"] == 10
        assert found["kept"][0] < found["kept"][1]
        assert found["hinted"] == 2
