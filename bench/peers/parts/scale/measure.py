"""Measures processor time of statements in turns, and how it grows."""

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
FOOTERS, LISTING, PLANNING = "Spark's read of all footers", "Spark's listing", "Spark's planning"
SPARKS = "Spark's"
"""The names of Spark's own work begin with this."""
LEAST_MS = 20.0
"""A time below this says little about growth."""

Times = dict[str, list[float]]


class Driver:
    """The process of the session."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        jvm: Any = spark._jvm
        self._runtime = jvm.Runtime.getRuntime()
        self._usage = Path(f"/proc/{jvm.java.lang.ProcessHandle.current().pid()}/stat")

    def used(self) -> float:
        """Processor milliseconds of all threads. The system counts in steps of ten."""
        user, system = self._usage.read_text().rsplit(")", 1)[1].split()[11:13]
        return (int(user) + int(system)) * 1e3 / os.sysconf("SC_CLK_TCK")

    def heap(self) -> int:
        """Bytes in use after garbage collection."""
        import gc

        # The driver cannot collect objects that Python still refers to.
        gc.collect()
        for _ in range(3):
            self._runtime.gc()
        return int(self._runtime.totalMemory() - self._runtime.freeMemory())

    def sql(self, statement: str) -> Callable[[], object]:
        """Wrap a statement as work to measure."""
        return partial(self._run, statement)

    def _run(self, statement: str) -> None:
        self.spark.sql(statement).collect()

    def by_turns(self, works: dict[str, Callable[[], object]], rounds: int | None = None) -> Times:
        """Measure the processor time of each, after one warm-up round."""
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
    """Add a table for each size, a curve, and a check that nothing grows faster than the size.

    Args:
        part: gets the figures
        axis: what the sizes count
        panel: the kind of table, may be empty
        found: values of each statement by size
        peer: Spark's own work among them, to compare with
        unit: the unit of the values
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
    """The ratio of values of the same rounds."""
    return statistics.median(a / max(b, 1.0) for a, b in zip(times[ours], times[peer], strict=True))
