"""Runs OPTIMIZE on a fifth of the data and on five times the data, in the same small heap."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from peers import events, wide
from peers.engines import Ours
from peers.parts.optimize import FILES
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import settle, start

if TYPE_CHECKING:
    from peers.sessions import Setting

TIMES = 5
LIMIT = 5.5
HEAP = "1g"


def run(setting: Setting) -> Part:
    """Measure the tables that `tables` has made. The number of files grows with the data."""
    log = setting.work / "events"
    small = replace(setting, heap=HEAP)
    scales = _scales(setting)
    spark = start(small, log)
    engines = []
    for scale in scales:
        source = setting.work / f"wide-{scale:g}"
        files = round(FILES * scale / setting.scale)
        engines.append(Ours(spark, source, setting.work, wide.KEYS, files))
    rounds = max(1, setting.rounds - 1)
    steps = Steps(rounds * len(scales))
    times: dict[str, list[float]] = {_name(scale): [] for scale in scales}
    where: list[tuple[str, float, float]] = []
    for _ in range(rounds):
        for name, engine in zip(times, engines, strict=True):
            steps.next(f"OPTIMIZE of {name}, heap {HEAP}")
            engine.prepare()
            settle(spark)
            began, clock = time.time(), time.perf_counter()
            engine.optimize()
            times[name].append(time.perf_counter() - clock)
            where.append((name, began, time.time()))
    spark.stop()
    figure = Figure(f"OPTIMIZE, heap {HEAP}", "s", times)
    # Larger tables of TPC-H have more distinct values, so their rows have more bytes.
    sizes = {name: [engine.size / 1e6] for name, engine in zip(times, engines, strict=True)}
    part = Part(
        "growth", f"OPTIMIZE of {TIMES} times the data, heap {HEAP}", figures=[figure, Figure("its input", "MB", sizes)]
    )
    part.settings = {"session": f"local[{setting.cores}], driver's heap {HEAP}; files of the same size"}
    once, more = _name(setting.scale), _name(setting.scale * TIMES)
    part.checks = [Check(f"OPTIMIZE, {more} over {once}", figure.ratio(more, once), LIMIT)]
    found = events.stages(log)
    for name, began, ended in where[-len(scales) :]:
        part.where += [f"{name}, last round, {line}" for line in events.told(found, began, ended)]
    return part


def tables(setting: Setting) -> None:
    """Make the tables in a heap that is large enough for the joins of TPC-H."""
    spark = start(setting)
    for scale in _scales(setting):
        wide.make(spark, scale, setting.work, setting.tpchgen)
    spark.stop()


def _scales(setting: Setting) -> tuple[float, ...]:
    return setting.scale / TIMES, setting.scale, setting.scale * TIMES


def _name(scale: float) -> str:
    return f"scale {scale:g}"
