"""Measures how the cost of statements grows with columns, files, partitions and operations."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peers.parts.scale import columns, files, history, partitions, window
from peers.parts.scale.measure import Driver
from peers.progress import Steps
from peers.results import Part
from peers.sessions import alone

if TYPE_CHECKING:
    from peers.sessions import Setting

AXES = (columns, files, partitions, history, window)
STEPS = (
    len(columns.COLUMNS)
    + 2 * len(files.FILES)
    + len(partitions.PARTITIONS)
    + len(history.OPERATIONS)
    + len(history.FILES_OF_OPERATIONS)
    + 2 * len(window.FILES)
)


def run(setting: Setting) -> Part:
    """Measure processor time of the whole process, because many threads do the work. Ratios are to Spark's own work."""
    part = Part("scale", "Wide tables, many files, partitions and operations")
    for axis in AXES:
        part.settings.update(axis.SETTINGS)
    part.settings["time"] = "processor time of all threads of the driver; local disk, everything in the page cache"
    spark = alone(setting)
    driver, steps = Driver(spark), Steps(STEPS)
    for axis in AXES:
        axis.run(part, driver, setting.work / "scale", steps)
    spark.stop()
    return part
