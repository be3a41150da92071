"""Measures how long files are being exchanged, beside the time that Spark needs to list the same folder."""

from __future__ import annotations

import shutil
import statistics
from typing import TYPE_CHECKING

from peers.parts.scale import tables
from peers.parts.scale.measure import LISTING, Driver, grown
from peers.sessions import seconds

if TYPE_CHECKING:
    from pathlib import Path

    from peers.parts.scale.measure import Times
    from peers.progress import Steps
    from peers.results import Part

FILES = (1000, 3000, 10_000)
PARTITIONS = 500
ROUNDS = 2
RETIRED, BROUGHT = "window of OPTIMIZE", "window of RESTORE"
SETTINGS = {
    "publishing window": f"`publishMillis` of an OPTIMIZE that retires {FILES[0]:,} to {FILES[-1]:,} files, and of the "
    f"RESTORE that brings them back, {ROUNDS} times; flat, into one file, and in {PARTITIONS} partitions, into one "
    "each. Times by the clock, and so is the listing",
}


def run(part: Part, driver: Driver, work: Path, steps: Steps) -> None:
    """Measure a flat table and one with partitions."""
    for partitions in (0, PARTITIONS):
        shape, found = tables.shape(partitions), {}
        for n in FILES:
            steps.next(f"exchange of {n:,} files, {shape}")
            folder = tables.make(work / f"window-{n}-{partitions}", n, partitions)
            found[n] = _exchanged(driver, folder)
            shutil.rmtree(folder)
        grown(part, "files exchanged", shape, found, LISTING, "ms")


def _exchanged(driver: Driver, folder: Path) -> Times:
    name = f"parquet.`{folder}`"
    found: Times = {RETIRED: [], BROUGHT: [], LISTING: []}
    listings = [seconds(lambda: driver.spark.read.parquet(str(folder))) * 1e3 for _ in range(ROUNDS + 2)]
    for _ in range(ROUNDS):
        for key, statement in ((RETIRED, f"OPTIMIZE {name} FULL"), (BROUGHT, f"RESTORE {name} TO VERSION AS OF 0")):
            driver.sql(statement)()
            newest = driver.spark.sql(f"DESCRIBE HISTORY {name}").first()
            assert newest is not None
            found[key].append(float(newest.operationMetrics["publishMillis"]))
        found[LISTING].append(statistics.median(listings[1:]))
    return found
