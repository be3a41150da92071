"""How the cost of statements grows with columns, files and partitions, beside what Spark needs for the same look."""

from __future__ import annotations

import os
import shutil
import statistics
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import alone

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from peers.sessions import Setting

COLUMNS = (250, 500, 1000, 2000, 3000)
FILES_OF_COLUMNS = 20
FILES = (1000, 10_000, 50_000)
PARTITIONS = 500
ROUNDS = 5
FOOTERS, LISTING = "Spark's look into the footers", "Spark's listing"
LEAST_MS = 20.0
"""Below that, a figure says little about how something grows."""


def run(setting: Setting) -> Part:
    """Processor time of the whole process, since much of the work is in threads."""
    part = Part("scale", "Statements of wide tables and of many files")
    part.settings = {
        "columns": f"{FILES_OF_COLUMNS} files of five rows and of {COLUMNS[0]} to {COLUMNS[-1]:,} columns, a third "
        "each of BIGINT, DOUBLE and STRING, written by pyarrow",
        "files": f"{FILES[0]:,} to {FILES[-1]:,} files of three rows, flat and in {PARTITIONS} partitions",
        FOOTERS: "a read of the folder with mergeSchema: all footers, no row",
        LISTING: "a read of the folder: the listing, and one footer",
        "time": "of the processor, all threads of the driver; the local disk, everything in the page cache",
    }
    spark = alone(setting)
    steps = Steps(len(COLUMNS) + 2 * len(FILES))
    wide = {n: _wide(spark, setting.work / "scale", n, steps) for n in COLUMNS}
    _grown(part, "columns", wide, FOOTERS)
    for shape, partitions in (("flat", 0), (f"{PARTITIONS} partitions", PARTITIONS)):
        many = {n: _many(spark, setting.work / "scale", n, partitions, steps) for n in FILES}
        _grown(part, f"files, {shape}", many, LISTING)
        refresh, listing = many[FILES[-1]]["REFRESH with nothing new"], many[FILES[-1]][LISTING]
        ratio = statistics.median(a / b for a, b in zip(refresh, listing, strict=True))
        part.checks.append(Check(f"REFRESH with nothing new / {LISTING}, {FILES[-1]:,} files, {shape}", ratio, 1.3))
    most = wide[COLUMNS[-1]]
    ratio = statistics.median(most["CREATE SKIPPING INDEX"]) / statistics.median(most[FOOTERS])
    part.checks.append(Check(f"CREATE SKIPPING INDEX / {FOOTERS}, {COLUMNS[-1]:,} columns", ratio, 1.5))
    spark.stop()
    return part


def _grown(part: Part, what: str, found: dict[int, dict[str, list[float]]], peer: str) -> None:
    """A table for each size, and whether anything grows faster than the size does."""
    for n, times in found.items():
        ours_first = {**{k: v for k, v in times.items() if k != peer}, peer: times[peer]}
        part.figures.append(Figure(f"{n:,} {what}", "ms", ours_first, compared=False))
    least, most = min(found), max(found)
    for statement in found[most]:
        if statement != peer:
            small = max(LEAST_MS, statistics.median(found[least][statement]))
            growth = statistics.median(found[most][statement]) / small
            part.checks.append(Check(f"growth of {statement}, {least:,} to {most:,} {what}", growth, most / least))


def _wide(spark: SparkSession, work: Path, columns: int, steps: Steps) -> dict[str, list[float]]:
    steps.next(f"{columns:,} columns")
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = work / f"columns-{columns}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kinds: list[Callable[[int], Any]] = [int, float, lambda x: f"v{x}"]
    table = pa.table({f"c{i}": [kinds[i % 3](x) for x in range(5)] for i in range(columns)})
    for n in range(FILES_OF_COLUMNS):
        pq.write_table(table, folder / f"part-{n}.parquet")
    name = f"parquet.`{folder}`"
    return _times(
        spark,
        {
            "CREATE SKIPPING INDEX": f"CREATE OR REPLACE SKIPPING INDEX ON {name}",
            "DESCRIBE SKIPPING INDEX": f"DESCRIBE SKIPPING INDEX ON {name}",
            "DESCRIBE CLUSTERING of one column": f"DESCRIBE CLUSTERING {name} (c0)",
        },
        (FOOTERS, lambda: spark.read.option("mergeSchema", "true").parquet(str(folder))),
    )


def _many(spark: SparkSession, work: Path, files: int, partitions: int, steps: Steps) -> dict[str, list[float]]:
    steps.next(f"{files:,} files in {max(1, partitions)} folders")
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = work / f"files-{files}-{partitions}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    first = folder.with_suffix(".parquet")
    pq.write_table(pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]}), first)
    content = first.read_bytes()
    for n in range(files):
        target = folder / f"p={n % partitions}" if partitions else folder
        target.mkdir(exist_ok=True)
        (target / f"part-{n:06}.parquet").write_bytes(content)
    name = f"parquet.`{folder}`"
    spark.sql(f"CREATE SKIPPING INDEX ON {name}")
    return _times(
        spark,
        {
            "REFRESH with nothing new": f"REFRESH SKIPPING INDEX ON {name}",
            "DESCRIBE DETAIL": f"DESCRIBE DETAIL {name}",
            "DESCRIBE DETAIL, no format named": f"DESCRIBE DETAIL '{folder}'",
            "DESCRIBE HISTORY": f"DESCRIBE HISTORY {name}",
        },
        (LISTING, lambda: spark.read.parquet(str(folder))),
    )


def _times(
    spark: SparkSession, statements: dict[str, str], peer: tuple[str, Callable[[], object]]
) -> dict[str, list[float]]:
    """By turns, after one round to warm up."""
    jvm: Any = spark._jvm
    usage = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/stat")

    def used() -> float:
        """Milliseconds of the processor; the system counts them by tens."""
        user, system = usage.read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) * 1e3 / os.sysconf("SC_CLK_TCK")

    works: dict[str, Callable[[], object]] = {k: partial(_run, spark, s) for k, s in statements.items()}
    works[peer[0]] = peer[1]
    found: dict[str, list[float]] = {k: [] for k in works}
    for n in range(ROUNDS + 1):
        for key, work in works.items():
            began = used()
            work()
            if n:
                found[key].append(used() - began)
    return found


def _run(spark: SparkSession, statement: str) -> None:
    spark.sql(statement).collect()
