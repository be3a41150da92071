"""Runs lookups, conjunctions, ranges and lists on the tables that OPTIMIZE wrote."""

from __future__ import annotations

import random
import time
from typing import TYPE_CHECKING, Any

from peers import wide
from peers.engines import Delta, Iceberg, Ours, as_many
from peers.parts.optimize import FILES
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import start

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import SparkSession

    from peers.sessions import Setting

WARM_UP = 3
MODES = ("ours", "off", "delta", "iceberg")
POINT_LIMITS = {"delta": 0.25, "iceberg": 0.6, "off": 0.5}
IN_LIST = 100


def run(setting: Setting) -> Part:
    """Run each query on all engines, one after the other, in rotating order. Their answers must agree."""
    spark = start(setting)
    source = wide.make(spark, setting.scale, setting.work, setting.tpchgen)
    engines = [e(spark, source, setting.work, wide.KEYS, FILES) for e in (Ours, Delta, Iceberg)]
    kinds = list(_queries(spark, str(source), setting.queries + WARM_UP))
    steps = Steps(len(engines) + sum(len(q) for _, q in kinds))
    views = {}
    for engine in engines:
        steps.next(f"the table of {engine.name}")
        if not engine.exists():
            engine.prepare()
            engine.optimize()
        if engine is engines[0]:
            as_many(engines)
        views[engine.name] = engine.view()
    figures = asked(spark, views, kinds, "l_extendedprice", steps)
    touched = wide.touched(engines[0].folder)
    part = Part("queries", f"Queries, scale {setting.scale:g}, {FILES} files", figures=figures)
    part.settings = {
        "query": "SELECT count(*), sum(l_extendedprice) FROM t WHERE ..; values of rows drawn at random",
        "runs": f"{setting.queries} queries of each kind after {WARM_UP} to warm up; the same answers by all",
        "files touched by ours, of 100": ", ".join(f"{k} {v:.1f}" for k, v in touched.items()),
    }
    for figure in figures:
        point = figure.name.startswith("point")
        limits = POINT_LIMITS if point else {"delta": 1.0, "iceberg": 1.0}
        part.checks += [
            Check(f"{figure.name}, of {'skipping off' if mode == 'off' else mode}'s", figure.ratio("ours", mode), limit)
            for mode, limit in limits.items()
        ]
    part.where = _where(spark, views["ours"], kinds)
    spark.stop()
    return part


def asked(
    spark: SparkSession, views: dict[str, str], kinds: Sequence[tuple[str, list[str]]], summed: str, steps: Steps
) -> list[Figure]:
    """Milliseconds of each condition by each engine, in turns, and by ours without skipping. The answers must agree."""
    views = {**views, "off": views["ours"]}
    figures = []
    for kind, conditions in kinds:
        times: dict[str, list[float]] = {mode: [] for mode in MODES}
        for n, condition in enumerate(conditions):
            steps.next(kind)
            answers = {}
            for mode in MODES[n % 4 :] + MODES[: n % 4]:
                spark.conf.set("spark.zorder.skipping.enabled", "false" if mode == "off" else "true")
                sql = f"SELECT count(*), sum({summed}) FROM {views[mode]} WHERE {condition}"
                begin = time.perf_counter()
                answers[mode] = spark.sql(sql).collect()
                if n >= WARM_UP:
                    times[mode].append((time.perf_counter() - begin) * 1e3)
            assert len({str(a) for a in answers.values()}) == 1, (condition, answers)
        figures.append(Figure(kind, "ms", times))
    return figures


def _queries(spark: SparkSession, source: str, count: int) -> Iterator[tuple[str, list[str]]]:
    rows = spark.read.parquet(source).select(*wide.KEYS)
    drawn = rows.sample(min(1.0, 5e4 / rows.count()), 3).collect()
    generator = random.Random(7)
    values = {k: sorted(row[k] for row in drawn) for k in wide.KEYS}

    def one(key: str) -> int:
        return int(generator.choice(values[key]))

    def of_range(key: str) -> str:
        width = max(1, len(values[key]) // 100)
        first = generator.randrange(len(values[key]) - width)
        return f"{key} BETWEEN {values[key][first]} AND {values[key][first + width]}"

    for key in wide.KEYS:
        yield f"point, {key}", [f"{key} = {one(key)}" for _ in range(count)]
    pairs = [(a, b) for i, a in enumerate(wide.KEYS) for b in wide.KEYS[i + 1 :]]
    both = []
    for n in range(count):
        row = generator.choice(drawn)
        both.append(" AND ".join(f"{k} = {row[k]}" for k in pairs[n % len(pairs)]))
    yield "two columns", both
    yield "range of 1 %", [of_range(wide.KEYS[n % 3]) for n in range(count)]

    def of_list(key: str) -> str:
        return f"{key} IN ({', '.join(str(one(key)) for _ in range(IN_LIST))})"

    yield f"IN of {IN_LIST}", [of_list(wide.KEYS[n % 3]) for n in range(count)]


def _where(spark: SparkSession, view: str, kinds: list[tuple[str, list[str]]]) -> list[str]:
    """Describe the last query of each kind: planning, the pruning within it, and running."""
    lines = []
    spark.conf.set("spark.zorder.skipping.enabled", "true")
    for kind, conditions in kinds:
        sql = f"SELECT count(*), sum(l_extendedprice) FROM {view} WHERE {conditions[-1]}"
        [scan] = spark.sql(f"EXPLAIN SKIPPING {sql}").collect()
        begin = time.perf_counter()
        frame = spark.sql(sql)
        plan: Any = frame._jdf
        plan.queryExecution().executedPlan()
        planned = time.perf_counter()
        frame.collect()
        ran = time.perf_counter()
        lines.append(
            f"{kind}: planning {(planned - begin) * 1e3:.0f} ms, of that pruning {scan.pruning_ms:.1f} ms; "
            f"running {(ran - planned) * 1e3:.0f} ms; {scan.files_kept} of {scan.files_total} files"
        )
    return lines
