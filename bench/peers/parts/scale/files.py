"""Runs statements and planning on tables with many files, beside Spark's own work. Measures the index on the heap."""

from __future__ import annotations

import itertools
import shutil
from typing import TYPE_CHECKING, Any

from peers.parts.scale import tables
from peers.parts.scale.measure import LISTING, PLANNING, Driver, Times, grown, ratio
from peers.results import Check, Curve, Figure

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame

    from peers.progress import Steps
    from peers.results import Part

FILES = (1000, 10_000, 50_000)
PARTITIONS = 500
REFRESH = "REFRESH with nothing new"
LOOKUP, TASKS, SPARKS_TASKS = "planning of a lookup", "the same and its tasks", f"{PLANNING} and its tasks"
SKIPPING = "spark.zorder.skipping.enabled"
SETTINGS = {
    "files": f"{FILES[0]:,} to {FILES[-1]:,} files of three rows, flat and in {PARTITIONS} partitions",
    LISTING: "a read of the folder: the listing, and one footer",
    LOOKUP: "a condition on one value, which one file has, to the physical plan; the listing is known",
    TASKS: "the files are split into tasks, too; none is run",
    PLANNING: f"the same with {SKIPPING}=false",
    "heap": "in use after garbage collection, more than before the table was read for the first time",
}


def run(part: Part, driver: Driver, work: Path, steps: Steps) -> None:
    """Measure both shapes, and the heap that the index of the largest table takes."""
    for partitions in (0, PARTITIONS):
        shape, heap, found, planned = tables.shape(partitions), {}, {}, {}
        for n in FILES:
            steps.next(f"{n:,} files, {shape}")
            folder = tables.make(work / f"files-{n}-{partitions}", n, partitions)
            before = driver.heap()
            found[n] = statements(driver, folder)
            planned[n] = planning(driver, folder, n * tables.ROWS)
            heap[n] = max(0, driver.heap() - before)
            if n == FILES[-1]:
                part.figures.append(Figure(f"heap of the driver, {n:,} files, {shape}", "MB", {"all": [_mb(driver)]}))
            shutil.rmtree(folder)
        grown(part, "files", shape, found, LISTING)
        planned_as(part, "files", shape, planned)
        _heap(part, shape, heap)
        of_refresh = ratio(found[FILES[-1]], REFRESH, LISTING)
        part.checks.append(Check(f"{REFRESH} / {LISTING}, {FILES[-1]:,} files, {shape}", of_refresh, 1.3))


def statements(driver: Driver, folder: Path, rounds: int | None = None) -> Times:
    """Statements that look at the whole table and find nothing to do."""
    name = f"parquet.`{folder}`"
    driver.sql(f"CREATE SKIPPING INDEX ON {name}")()
    return driver.by_turns(
        {
            REFRESH: driver.sql(f"REFRESH SKIPPING INDEX ON {name}"),
            "DESCRIBE DETAIL": driver.sql(f"DESCRIBE DETAIL {name}"),
            "DESCRIBE DETAIL, no format named": driver.sql(f"DESCRIBE DETAIL '{folder}'"),
            "DESCRIBE HISTORY": driver.sql(f"DESCRIBE HISTORY {name}"),
            LISTING: lambda: driver.spark.read.parquet(str(folder)),
        },
        rounds,
    )


def planning(driver: Driver, folder: Path, rows: int) -> Times:
    """Plan lookups that find one file each, with the extension's rule and without it."""
    table = driver.spark.read.parquet(str(folder))
    values = itertools.count(1)

    def lookup(skipping: bool, work: Callable[[Any], object]) -> Callable[[], object]:
        def plan() -> object:
            driver.spark.conf.set(SKIPPING, str(skipping).lower())
            # Each is a different query, so no earlier plan is used again.
            query: DataFrame = table.where(f"a = {next(values) * 7919 % rows}")
            return work(query._jdf.queryExecution())

        return plan

    def physical(execution: Any) -> object:
        return execution.executedPlan()

    def split(execution: Any) -> object:
        return execution.toRdd().getNumPartitions()

    found = driver.by_turns(
        {
            LOOKUP: lookup(True, physical),
            PLANNING: lookup(False, physical),
            TASKS: lookup(True, split),
            SPARKS_TASKS: lookup(False, split),
        }
    )
    driver.spark.conf.set(SKIPPING, "true")
    return found


def planned_as(part: Part, axis: str, panel: str, found: dict[int, Times]) -> None:
    """Compare plans with plans, and plans with tasks with their like."""
    what = f"{axis} planned"
    grown(part, what, panel, found, SPARKS_TASKS)
    for ours, sparks in ((LOOKUP, PLANNING), (TASKS, SPARKS_TASKS)):
        ratios = {
            f"{n:,} {what}": [a / max(b, 1.0) for a, b in zip(t[ours], t[sparks], strict=True)]
            for n, t in found.items()
        }
        part.figures.append(Figure(f"{ours} over {sparks}{', ' * bool(panel)}{panel}", "ratio", ratios, compared=False))


def index_bytes(folder: Path) -> int:
    """The size of the newest statistics."""
    return max((folder / "_zorder").glob("_index-*.zidx")).stat().st_size


def _mb(driver: Driver) -> float:
    return driver.heap() / 1e6


def _heap(part: Part, shape: str, heap: dict[int, int]) -> None:
    most = max(heap)
    part.figures += [
        Figure(
            f"heap with the index in the cache, {shape}", "MB", {f"{n:,} files": [b / 1e6] for n, b in heap.items()}
        ),
        Figure(f"the same of each file, {shape}", "bytes", {f"{n:,} files": [b / n] for n, b in heap.items()}),
    ]
    megabytes = [[b / 1e6] for b in heap.values()]
    part.curves.append(Curve("files, heap", shape, "MB", list(heap), {"heap with the index in the cache": megabytes}))
    growth = heap[most] / max(heap[min(heap)], 1e6)
    part.checks.append(Check(f"growth of heap, {min(heap):,} to {most:,} files, {shape}", growth, most / min(heap)))
