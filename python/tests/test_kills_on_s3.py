"""Processes are killed with `kill -9` while they work on tables in an object store: no row is lost or doubled."""

from __future__ import annotations

import os
import random
import time
from collections import Counter
from pathlib import Path

import pytest
from s3_server import Request, S3Server, s3_server

pytestmark = pytest.mark.extended

KILLS = int(os.environ.get("S3_KILLS", "12"))
TABLES = 3
ROWS = 600

DRIVER = """
import random, threading
def work(table, seed):
    chance = random.Random(seed)
    while True:
        column = chance.choice("ab")
        version = chance.randrange(3)
        statement = chance.choice([
            f"OPTIMIZE {table} FULL ZORDER BY ({column}) OPTIONS ('num-files' = '2')",
            f"OPTIMIZE {table} FULL ZORDER BY ({column}) OPTIONS ('num-files' = '3', 'retain-hours' = '0')",
            f"RESTORE {table} TO VERSION AS OF {version}",
            f"VACUUM {table} RETAIN 0 HOURS",
            f"REFRESH SKIPPING INDEX ON {table}",
        ])
        try:
            spark.sql(statement).collect()
        except Exception as error:
            print(statement, str(error)[:300].replace(chr(10), " "), flush=True)
for table, seed in TABLES_AND_SEEDS:
    threading.Thread(target=work, args=(table, seed), daemon=True).start()
threading.Event().wait()
"""


def test_kills_at_random_times_lose_and_double_no_row(tmp_path: Path) -> None:
    chance = random.Random(20261124)
    with s3_server() as server, server.spark(tmp_path / "checker") as checker:
        roots = [f"s3a://bucket/t{i}" for i in range(TABLES)]
        for i, root in enumerate(roots):
            checker.run(
                f"spark.range({ROWS}).selectExpr('id', 'id % 2 AS p', 'hash(id) % 100 AS a', 'hash(id, 1) % 100 AS b')"
                f".repartition(3).write.partitionBy(*{['p'] if i else []!r}).parquet({root!r})"
            )
        hit: Counter[str] = Counter()
        for kill in range(KILLS):
            hit.update(_killed(server, tmp_path / f"driver-{kill}", roots, chance))
            for root in roots:
                found = checker.run(
                    f"frame = spark.read.parquet({root!r})\nresult = [frame.count(), frame.distinct().count()]"
                )
                assert found == [ROWS, ROWS], f"kill {kill} of {root}"
        # The next statements find no lock of a dead process that hinders them, and leave nothing.
        for root in roots:
            checker.sql(f"OPTIMIZE parquet.`{root}` FULL ZORDER BY (a) OPTIONS ('num-files' = '2')")
            names = checker.run(f"result = files({root!r})")
            marks = ("_exchange", ".publishing", "_staging-", "_lock-", "__magic")
            assert not [n for n in names if any(mark in n for mark in marks)]
        assert hit["operation"] >= KILLS / 2, hit
        print(f"{KILLS} kills: {dict(hit)}")


def _killed(server: S3Server, work: Path, roots: list[str], chance: random.Random) -> Counter[str]:
    """Start a process, kill it some time after it has begun to write, and say what it left."""
    seeds = [(f"parquet.`{root}`", chance.randrange(10**6)) for root in roots]
    sought = chance.choice(["put", "part", "copy", "complete", "delete", "complete", "delete"])
    skip = chance.randrange(1, 12)
    driver = server.spark(work)
    server.counted()
    seen = 0
    found = False

    def watch(request: Request) -> None:
        nonlocal seen, found
        if request.what == sought:
            seen += 1
            found = found or seen >= skip

    server.fault = watch
    try:
        driver.send(DRIVER.replace("TABLES_AND_SEEDS", repr(seeds)))
        end = time.monotonic() + 90
        while not found and time.monotonic() < end:
            time.sleep(0.001)
        time.sleep(chance.choice([0, 0, 0.005, 0.02, 0.1]))
        driver.kill()
    finally:
        server.fault = None
    listed = _keys(server)
    return Counter(
        {
            "operation": int(any("/_lock-" in key for key in listed)),
            "marked": int(any(key.endswith("/_exchange") for key in listed)),
            "publishing": int(any(key.endswith(".publishing") for key in listed)),
            f"at {sought}": 1,
        }
    )


def _keys(server: S3Server) -> list[str]:
    import re

    return re.findall("<Key>(.*?)</Key>", server.ask("GET", "/bucket?list-type=2&max-keys=1000").decode())
