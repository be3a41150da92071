"""Runs OPTIMIZE by each engine, in turns."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from peers import events, wide
from peers.engines import ENGINES, as_many
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import SETTINGS, settle, start

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession

    from peers.engines import Engine
    from peers.sessions import Setting

FILES = 100
LIMITS = {"delta": 0.50, "iceberg": 0.60, "spark": 0.72}


@dataclass
class Rounds:
    """The seconds that OPTIMIZE took each engine, and its results.

    Args:
        written: files of the last round by engine
        last: start and end of the last round by engine, in clock time
    """

    times: dict[str, list[float]]
    written: dict[str, int] = field(default_factory=dict)
    last: dict[str, tuple[float, float]] = field(default_factory=dict)

    def files(self) -> str:
        """Format the numbers of files for the page."""
        return ", ".join(f"{name} {n}" for name, n in self.written.items())

    def stages(self, log: Path) -> list[str]:
        """Describe how each engine spent its last round, from the session's event log."""
        found = events.stages(log)
        return [
            f"{name}, last round, {line}"
            for name, (began, ended) in self.last.items()
            for line in events.told(found, began, ended)
        ]


def in_turns(spark: SparkSession, engines: Sequence[Engine], rounds: int, steps: Steps) -> Rounds:
    """Run the rounds in different orders. Each engine's table is made anew from the same files."""
    found = Rounds({e.name: [] for e in engines})
    for r in range(rounds):
        at = r % len(engines)
        for engine in [*engines[at:], *engines[:at]]:
            steps.next(f"OPTIMIZE by {engine.name}, round {r + 1}")
            engine.prepare()
            settle(spark)
            began, clock = time.time(), time.perf_counter()
            found.written[engine.name] = engine.optimize()
            found.times[engine.name].append(time.perf_counter() - clock)
            found.last[engine.name] = (began, time.time())
            if engine is engines[0]:
                as_many(engines)
    return found


def run(setting: Setting) -> Part:
    """Measure on TPC-H's wide table."""
    log = setting.work / "events"
    spark = start(setting, log)
    source = wide.make(spark, setting.scale, setting.work, setting.tpchgen)
    beside = setting.beside.split(",")
    engines = [e(spark, source, setting.work, wide.KEYS, FILES) for e in ENGINES if e.name in ("ours", *beside)]
    found = in_turns(spark, engines, setting.rounds, Steps(setting.rounds * len(engines)))
    rows = spark.read.parquet(str(source)).count()
    size = engines[0].size
    spark.stop()
    figure = Figure(f"OPTIMIZE, {FILES} files, scale {setting.scale:g}", "s", found.times)
    part = Part("optimize", f"OPTIMIZE of TPC-H's wide table, scale {setting.scale:g}", figures=[figure])
    part.settings = {
        "data": f"{rows:,} rows, {size / 1e6:.0f} MB in 64 files, rows at random; by {', '.join(wide.KEYS)}",
        "files written": found.files(),
        "session": f"local[{setting.cores}], heap {setting.heap}, one session with all extensions, "
        + ", ".join(f"{k} = {v}" for k, v in SETTINGS.items()),
        "before each": "files copied anew (so in the page cache, for all), garbage collected, sync",
        "number of files": f"ours is asked for {FILES}, and the others for the number that ours wrote",
        "Spark's own": "repartitionByRange(files, keys) + sortWithinPartitions(keys) + write",
    }
    part.checks = [
        Check(f"OPTIMIZE, of {engine}'s time", figure.ratio("ours", engine), limit)
        for engine, limit in LIMITS.items()
        if engine in beside
    ]
    part.where = found.stages(log)
    return part
