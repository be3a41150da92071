"""Puts the same files into more and more partitions. Measures statements, planning, and the size of the index."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from peers.parts.scale import files, tables
from peers.parts.scale.measure import LISTING, Driver, grown
from peers.results import Check, Curve, Figure

if TYPE_CHECKING:
    from pathlib import Path

    from peers.progress import Steps
    from peers.results import Part

PARTITIONS = (1, 50, 500, 5000)
FILES = 5000
ROUNDS = 2
"""Spark's own listing of 5,000 folders takes long."""
MOST_BYTES = 100
SETTINGS = {
    "partitions": f"{FILES:,} files in {PARTITIONS[0]} to {PARTITIONS[-1]:,} folders `p=<n>`",
    "index": f"bytes on the disk for each file, less the {tables.BOUND_BYTES} of its bounds as plain values",
}


def run(part: Part, driver: Driver, work: Path, steps: Steps) -> None:
    """Measure with more and more partitions, which get smaller and smaller."""
    found, planned, sizes = {}, {}, {}
    for n in PARTITIONS:
        steps.next(f"{n:,} partitions")
        folder = tables.make(work / f"partitions-{n}", FILES, n)
        found[n] = files.statements(driver, folder, ROUNDS)
        planned[n] = files.planning(driver, folder, FILES * tables.ROWS)
        sizes[n] = files.index_bytes(folder) / FILES - tables.BOUND_BYTES
        shutil.rmtree(folder)
    grown(part, "partitions", "", found, LISTING)
    files.planned_as(part, "partitions", "", planned)
    name = "index beyond the bounds"
    part.figures.append(
        Figure(name, "bytes for each file", {f"{n:,} partitions": [b] for n, b in sizes.items()}, compared=False)
    )
    part.curves.append(
        Curve("partitions, index", "", "bytes for each file", list(sizes), {name: [[b] for b in sizes.values()]})
    )
    part.checks += [Check(f"{name}, {n:,} partitions, bytes for each file", sizes[n], MOST_BYTES) for n in PARTITIONS]
