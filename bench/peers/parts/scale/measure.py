"""Processor time of statements by turns, and how it grows."""

from __future__ import annotations

import os
import statistics
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peers.results import Check, Curve, Figure

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

    from peers.results import Part

ROUNDS = 3
FOOTERS, LISTING, PLANNING = "Spark's look into the footers", "Spark's listing", "Spark's planning"
SPARKS = "Spark's"
"""So the names of its own work begin."""
LEAST_MS = 20.0
"""Below that, a figure says little about how something grows."""

Times = dict[str, list[float]]


class Driver:
    """The process that runs the session."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        jvm: Any = spark._jvm
        self._runtime = jvm.Runtime.getRuntime()
        self._usage = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/stat")

    def used(self) -> float:
        """Milliseconds of the processor, of all threads; the system counts them by tens."""
        user, system = self._usage.read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) * 1e3 / os.sysconf("SC_CLK_TCK")

    def heap(self) -> int:
        """Bytes in use after garbage collection."""
        import gc

        # What Python still refers to is no garbage to the driver.
        gc.collect()
        for _ in range(3):
            self._runtime.gc()
        return int(self._runtime.totalMemory() - self._runtime.freeMemory())

    def sql(self, statement: str) -> Callable[[], object]:
        """The statement as work to be measured."""
        return partial(self._run, statement)

    def _run(self, statement: str) -> None:
        self.spark.sql(statement).collect()

    def by_turns(self, works: dict[str, Callable[[], object]], rounds: int | None = None) -> Times:
        """Processor time of each, after one round to warm up."""
        rounds = rounds or ROUNDS
        found: Times = {k: [] for k in works}
        for n in range(rounds + 1):
            for key, work in works.items():
                began = self.used()
                work()
                if n:
                    found[key].append(self.used() - began)
        return found


def grown(
    part: Part, axis: str, panel: str, found: dict[int, Times], peer: str, unit: str = "ms of the processor"
) -> None:
    """A table for each size, a curve, and whether anything grows faster than the size does.

    Args:
        part: takes them
        axis: what the sizes are the number of
        panel: which of several kinds of tables they are of, may be empty
        found: values of each statement by size
        peer: Spark's own work among them, which the others are compared with
        unit: of the values
    """
    what = f"{axis}, {panel}" if panel else axis
    for n, times in found.items():
        peer_first = {peer: times[peer], **{k: v for k, v in times.items() if k != peer}}
        part.figures.append(Figure(f"{n:,} {what}", unit, peer_first))
    part.curves.append(
        Curve(axis, panel, unit, list(found), {k: [found[n][k] for n in found] for k in found[min(found)]})
    )
    least, most = min(found), max(found)
    for statement in found[most]:
        if not statement.startswith(SPARKS):
            small = max(LEAST_MS, statistics.median(found[least][statement]))
            growth = statistics.median(found[most][statement]) / small
            part.checks.append(Check(f"growth of {statement}, {least:,} to {most:,} {what}", growth, most / least))


def ratio(times: Times, ours: str, peer: str) -> float:
    """Of values of the same rounds."""
    return statistics.median(a / max(b, 1.0) for a, b in zip(times[ours], times[peer], strict=True))
