"""Statements on a table of a million keys on S3: `make bench-listing`.

A table of a thousand folders is on the S3 server of the tests: one folder with real files, and copies of one of them in
the others. Counts the pages of listings and the bytes of the driver's heap. Writes bench/results/listing-<date>.md.
"""

from __future__ import annotations

import argparse
import datetime
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python" / "tests" / "support"))

import s3_server as servers  # noqa: E402
from spark_process import SparkProcess  # noqa: E402

TABLE = f"parquet.`s3a://{servers.BUCKET}/t`"
OWN = 20
REWRITE = f"OPTIMIZE {TABLE} WHERE p = 0 ZORDER BY (a) OPTIONS ('num-files' = '4')"

STATEMENTS = {
    "`SELECT count(*) .. WHERE p = 0 AND a = 5`": f"SELECT count(*) FROM {TABLE} WHERE p = 0 AND a = 5",
    "`SELECT .. WHERE a = -1 LIMIT 1`, no folder named": f"EXPLAIN SKIPPING SELECT * FROM {TABLE} WHERE a = -1 LIMIT 1",
    "`OPTIMIZE .. WHERE p = 0 .. DRY RUN`": f"{REWRITE} DRY RUN",
    "`OPTIMIZE .. WHERE p = 0`": REWRITE,
    "the first query again, after the others": f"SELECT count(*) FROM {TABLE} WHERE p = 0 AND a = 5",
}

HEAP = """
import gc
gc.collect()
for _ in range(3):
    spark._jvm.java.lang.System.gc()
runtime = spark._jvm.java.lang.Runtime.getRuntime()
result = runtime.totalMemory() - runtime.freeMemory()
"""


@contextmanager
def many_keys() -> Iterator[servers.S3Server]:
    """The server of the tests, by a program that can hold as many keys."""
    original, program = servers.SERVER, ROOT / "build" / "many-keys"
    python = original.parent / "python"
    program.write_text(f'#!/bin/sh\nexec "{python}" -P "{ROOT / "bench" / "many_keys.py"}" "$@"\n')
    program.chmod(0o755)
    servers.SERVER = program
    try:
        with servers.s3_server() as server:
            yield server
    finally:
        servers.SERVER = original


def measured(server: servers.S3Server, spark: SparkProcess, statement: str) -> str:
    """Run a statement and tell what it cost."""
    before = spark.run(HEAP)
    server.counted()
    began = time.monotonic()
    spark.sql(statement)
    seconds = time.monotonic() - began
    kinds = Counter(r.what for r in server.counted())
    grown = (spark.run(HEAP) - before) / 2**20
    others = kinds.total() - kinds["list"]
    return f"{kinds['list']:,} | {others:,} | {seconds:.0f} | {grown:+,.0f}"


def main() -> None:
    """Make the table, run the statements and write the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folders", type=int, default=1000)
    parser.add_argument("--files", type=int, default=1001, help="in each folder but the first")
    asked = parser.parse_args()
    keys = OWN + (asked.folders - 1) * asked.files
    lines = []
    with (
        tempfile.TemporaryDirectory(prefix="zorder-listing-") as name,
        many_keys() as server,
    ):
        work = Path(name)
        with server.spark(work / "writer", extension=False) as writer:
            writer.run(
                f"spark.range(10000).selectExpr('id', 'hash(id) % 1000 AS a').repartition({OWN})"
                f".write.parquet('s3a://{servers.BUCKET}/t/p=0')\nresult = None"
            )
        server.ask(
            "PUT",
            f"/{servers.BUCKET}/_copies",
            f"{asked.folders} {asked.files}".encode(),
        )
        print(f"{keys:,} keys are there", flush=True)
        settings = {"spark.driver.memory": "6g"}
        for label, extension in (("without us", False), ("with us", True)):
            with server.spark(work / label.replace(" ", "-"), extension=extension, settings=settings) as spark:
                spark.run("spark.range(1).count()\nresult = None")
                for what, statement in STATEMENTS.items():
                    if extension or statement.startswith("SELECT"):
                        lines.append(f"| {what}, {label} | {measured(server, spark, statement)} |")
                        print(lines[-1], flush=True)
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    text = f"""# A listing of {keys:,} keys on S3, {date}

`make bench-listing`: Spark with S3A, and a `moto` server behind a proxy that counts, on two cores that all share.
{asked.folders:,} folders; one has {OWN} files of its own, the others {asked.files:,} copies of one of them each.
A page of a listing has at most 1,000 keys. The seconds are mostly those of the server, which is a Python program. The
heap is what a collection leaves, after less before.

| statement | pages of listings | other requests | seconds | MiB of heap |
|---|---|---|---|---|
"""
    (ROOT / "bench" / "results" / f"listing-{date}.md").write_text(text + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
