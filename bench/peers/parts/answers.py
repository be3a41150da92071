"""Measures counts, extremes and the latest rows, which the index may answer, on a table of a thousand files."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from peers.engines import ENGINES
from peers.parts.memory import sum_of_files
from peers.parts.thousand import ROWS, make
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import start

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from peers.sessions import Setting

FILES = 1000
WARM_UP = 3
FASTER, LATEST_FILES, OVER_EMPTY = 5, 3, 20
WHOLE = ("count(*)", "min and max")


def run(setting: Setting) -> Part:
    """Cluster the rows by their number, which rises with time, and ask each engine the same questions."""
    spark = start(setting)
    rows = round(ROWS * setting.scale)
    source = make(spark, rows, setting.work)
    engines = [e(spark, source, setting.work / "answers", ["orderkey"], FILES) for e in ENGINES]
    tenth = rows // 10
    questions = {
        "count(*)": "SELECT count(*) FROM {}",
        "min and max": "SELECT min(orderkey), max(orderkey), max(orderdate) FROM {}",
        "a count of a tenth": f"SELECT count(*) FROM {{}} WHERE orderkey BETWEEN {tenth * 3 + 7} AND {tenth * 4 + 6}",
        "the latest 100 rows": "SELECT * FROM {} ORDER BY orderkey DESC LIMIT 100",
    }
    steps = Steps(len(engines) + len(questions) * setting.queries)
    views = {}
    for engine in engines:
        steps.next(f"clustering: {engine.name}")
        engine.prepare()
        engine.optimize()
        views[engine.name] = engine.view()
    part = Part("answers", f"Counts, extremes and the latest rows, {FILES:,} files, {rows:,} rows")
    empty = _empty(spark, setting.queries)
    part.figures.append(Figure("an empty query", "ms", {"ours": empty}, compared=False))
    for name, template in questions.items():
        times: dict[str, list[float]] = {peer: [] for peer in views}
        files: dict[str, int] = {}
        for n in range(setting.queries + WARM_UP):
            if n >= WARM_UP:
                steps.next(name)
            answers = set()
            for peer, view in views.items():
                spark.conf.set("spark.zorder.skipping.enabled", str(peer == "ours").lower())
                frame: Any = spark.sql(template.format(view))
                begin = time.perf_counter()
                found = frame.collect()
                took = (time.perf_counter() - begin) * 1e3
                answers.add(str(found))
                if n >= WARM_UP:
                    times[peer].append(took)
                    files[peer] = sum_of_files(_final(frame))
            assert len(answers) == 1, (name, answers)
        part.figures.append(Figure(name, "ms", times))
        part.where.append(f"{name}, files read: {', '.join(f'{e} {n:,}' for e, n in files.items())}")
        ours = statistics.median(times["ours"])
        if name in WHOLE:
            part.checks.append(Check(f"{name}: files read", files["ours"], 0))
            over = ours - statistics.median(empty)
            part.checks.append(Check(f"{name}: more than an empty query, ms", over, OVER_EMPTY))
        elif name == "the latest 100 rows":
            part.checks.append(Check(f"{name}: files read", files["ours"], LATEST_FILES))
        else:
            part.checks.append(Check(f"{name}: files read", files["ours"], 2))
        for peer, took_by in times.items():
            if peer != "ours" and files[peer] > 0:
                ratio = statistics.median(took_by) / ours
                part.checks.append(Check(f"{name}: {peer} / ours", ratio, FASTER, at_least=True))
    spark.stop()
    part.settings = {
        "data": f"{rows:,} rows in {FILES:,} files, clustered by one column that rises with time",
        "spark": "Spark's own range rewrite, skipping off",
        "measured": f"{setting.queries} queries of each engine in turns, after {WARM_UP} to warm up",
    }
    return part


def _empty(spark: SparkSession, count: int) -> list[float]:
    found = []
    for n in range(count + WARM_UP):
        frame = spark.sql("SELECT 1 AS one")
        begin = time.perf_counter()
        frame.collect()
        if n >= WARM_UP:
            found.append((time.perf_counter() - begin) * 1e3)
    return found


def _final(frame: Any) -> Any:
    plan = frame._jdf.queryExecution().executedPlan()
    return plan.executedPlan() if plan.getClass().getSimpleName() == "AdaptiveSparkPlanExec" else plan
