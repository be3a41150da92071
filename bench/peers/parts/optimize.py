"""OPTIMIZE by each engine, interleaved."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from peers import events, wide
from peers.engines import ENGINES
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import SETTINGS, settle, start

if TYPE_CHECKING:
    from peers.sessions import Setting

FILES = 100
LIMITS = {"delta": 0.60, "iceberg": 0.65, "spark": 0.95}


def run(setting: Setting) -> Part:
    """Each round in another order; every engine's table is made anew of the same files."""
    log = setting.work / "events"
    spark = start(setting, log)
    source = wide.make(spark, setting.scale, setting.work, setting.tpchgen)
    engines = [e(spark, source, setting.work, wide.KEYS, FILES) for e in ENGINES]
    steps = Steps(setting.rounds * len(engines))
    times: dict[str, list[float]] = {e.name: [] for e in engines}
    written: dict[str, int] = {}
    last: dict[str, tuple[float, float]] = {}
    for r in range(setting.rounds):
        at = r % len(engines)
        for engine in engines[at:] + engines[:at]:
            steps.next(f"OPTIMIZE by {engine.name}, round {r + 1}")
            engine.prepare()
            settle(spark)
            began, clock = time.time(), time.perf_counter()
            written[engine.name] = engine.optimize()
            times[engine.name].append(time.perf_counter() - clock)
            last[engine.name] = (began, time.time())
    rows = spark.read.parquet(str(source)).count()
    size = engines[0].size
    spark.stop()
    figure = Figure(f"OPTIMIZE, {FILES} files, scale {setting.scale:g}", "s", times)
    part = Part("optimize", f"OPTIMIZE of TPC-H's wide table, scale {setting.scale:g}", figures=[figure])
    part.settings = {
        "data": f"{rows:,} rows, {size / 1e6:.0f} MB in 64 files, rows at random; by {', '.join(wide.KEYS)}",
        "files written": ", ".join(f"{name} {n}" for name, n in written.items()),
        "session": f"local[{setting.cores}], heap {setting.heap}, one session with all extensions, "
        + ", ".join(f"{k} = {v}" for k, v in SETTINGS.items()),
        "before each": "files copied anew (so in the page cache, for all), garbage collected, sync",
        "Spark's own": f"repartitionByRange({FILES}, keys) + sortWithinPartitions(keys) + write",
    }
    part.checks = [
        Check(f"OPTIMIZE, of {engine}'s time", figure.ratio("ours", engine), limit) for engine, limit in LIMITS.items()
    ]
    found = events.stages(log)
    for name, (began, ended) in last.items():
        part.where += [f"{name}, last round, {line}" for line in events.told(found, began, ended)]
    return part
