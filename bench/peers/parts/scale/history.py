"""Runs statements behind a long history: one of many operations, and one of operations on many files."""

from __future__ import annotations

import itertools
import json
import os
import re
import shutil
import statistics
import uuid
import zlib
from typing import TYPE_CHECKING, Any

from peers.parts.scale.measure import LEAST_MS, LISTING, Driver, Times, grown
from peers.results import Check, Figure

if TYPE_CHECKING:
    from pathlib import Path

    from peers.progress import Steps
    from peers.results import Part

OPERATIONS = (1, 100, 1000, 20_000)
FILES_EACH = 10
OPERATIONS_OF_FILES = 50
FILES_OF_OPERATIONS = (10, 1000, 10_000)
TABLE_FILES = 20
OF_EACH = f"files of each of {OPERATIONS_OF_FILES} operations"
HISTORY = "DESCRIBE HISTORY"
MOST = 2.0
"""The limit for statements that do not depend on old operations: the time with all of them over that with the first."""
SETTINGS = {
    "operations": f"{OPERATIONS[0]} to {OPERATIONS[-1]:,} of {FILES_EACH} files in and out, before the one that "
    f"wrote the {TABLE_FILES} files that are in the table; and {OPERATIONS_OF_FILES} of {FILES_OF_OPERATIONS[0]} to "
    f"{FILES_OF_OPERATIONS[-1]:,} files each",
}

STEP_MS = 120_000
"""The time between two operations. So 20,000 of them are within the 30 days that the history is kept."""
_RECORD = re.compile(r"_v\d{10}-\d+ms\.json")


def prolong(table: Path, operations: int, files_each: int) -> None:
    """Put this number of operations before the only operation of a table.

    Each record has as many files in as out. These files never existed. The record is sealed as the project seals its
    own.
    """
    side = table / "_zorder"
    [only] = [f for f in side.iterdir() if _RECORD.fullmatch(f.name)]
    last = json.loads(only.read_text())
    end = only.stat().st_mtime_ns // 1_000_000
    only.unlink()
    bystanders = last.pop("bystanders", {})
    del last["crc"]
    before = _names(0, files_each)
    for version in range(1, operations):
        after, time = _names(version, files_each), end - (operations - version) * STEP_MS
        made = {
            **last,
            "version": version,
            "operationId": str(uuid.UUID(int=version)),
            "timestamp": time,
            "inputs": _files(before, time - STEP_MS),
            "outputs": _files(after, time),
        }
        _write(side, made, time)
        before = after
    _write(side, {**last, "version": operations, "bystanders": bystanders}, end)


def _names(version: int, files: int) -> list[str]:
    """Name files as Spark does: all files of a job share an id."""
    job = uuid.UUID(int=version << 64 | version)
    return [f"part-{n:05}-{job}-c000.snappy.parquet" for n in range(files)]


def _files(names: list[str], time: int) -> list[dict[str, Any]]:
    return [{"path": name, "length": 1_000_000, "modificationTime": time, "rows": 1000} for name in names]


def _write(side: Path, record: dict[str, Any], time: int) -> None:
    body = json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode()[:-1]
    target = side / f"_v{record['version']:010}-12ms.json"
    target.write_bytes(body + f',"crc":{zlib.crc32(body)}}}'.encode())
    os.utime(target, ns=(time * 1_000_000, time * 1_000_000))


def run(part: Part, driver: Driver, work: Path, steps: Steps) -> None:
    """Measure with more and more operations on few files, and with more and more files in each."""
    sizes = [(n, FILES_EACH) for n in OPERATIONS], [(OPERATIONS_OF_FILES, n) for n in FILES_OF_OPERATIONS]
    for axis, behind in zip(("operations", OF_EACH), sizes, strict=True):
        found, shortened = {}, {}
        for operations, files_each in behind:
            steps.next(f"behind {operations:,} operations of {files_each:,} files")
            size = operations if axis == "operations" else files_each
            folder = work / f"history-{operations}-{files_each}"
            found[size], shortened[size] = _behind(driver, folder, operations, files_each)
            shutil.rmtree(folder)
        grown(part, axis, "", found, LISTING)
        part.figures.append(
            Figure("the VACUUM that makes lines of them", "ms", {f"{n:,} {axis}": [t] for n, t in shortened.items()})
        )
        least, most = min(found), max(found)
        for statement in found[most]:
            if statement in (LISTING, HISTORY):
                continue
            small = max(LEAST_MS, statistics.median(found[least][statement]))
            growth = statistics.median(found[most][statement]) / small
            part.checks.append(Check(f"{statement}, {most:,} over {least:,} {axis}", growth, MOST))


def _behind(driver: Driver, folder: Path, operations: int, files_each: int) -> tuple[Times, float]:
    """Measure the processor time of each statement, and of the VACUUM that makes lines of the records."""
    spark, name = driver.spark, f"parquet.`{folder}`"
    shutil.rmtree(folder, ignore_errors=True)
    columns = ("id", "hash(id) AS a", "hash(-id) AS b")
    optimize = f"OPTIMIZE {name} ZORDER BY (a, b)"
    spark.range(0, 200 * TABLE_FILES, 1, TABLE_FILES).selectExpr(*columns).write.parquet(str(folder))
    driver.sql(f"{optimize} OPTIONS ('num-files' = '{TABLE_FILES}')")()
    prolong(folder, operations, files_each)

    def append() -> None:
        spark.range(1000).selectExpr(*columns).coalesce(1).write.mode("append").parquet(str(folder))

    append()
    driver.sql(optimize)()
    began = driver.used()
    driver.sql(f"VACUUM {name} RETAIN 0 HOURS")()
    shortening = driver.used() - began
    values = itertools.count(1)

    def lookup() -> object:
        query = spark.read.parquet(str(folder)).where(f"a = {next(values)}")
        return query._jdf.queryExecution().executedPlan()

    def little_new() -> None:
        append()
        driver.sql(optimize)()

    found = driver.by_turns(
        {
            "OPTIMIZE with nothing to do": driver.sql(optimize),
            "DESCRIBE DETAIL": driver.sql(f"DESCRIBE DETAIL {name}"),
            "REFRESH with nothing new": driver.sql(f"REFRESH SKIPPING INDEX ON {name}"),
            "CREATE SKIPPING INDEX": driver.sql(f"CREATE OR REPLACE SKIPPING INDEX ON {name}"),
            "VACUUM DRY RUN": driver.sql(f"VACUUM {name} DRY RUN"),
            HISTORY: driver.sql(f"DESCRIBE HISTORY {name}"),
            "planning of a lookup": lookup,
            "an append, and OPTIMIZE of it": little_new,
            LISTING: lambda: spark.read.parquet(str(folder)),
        }
    )
    return found, shortening
