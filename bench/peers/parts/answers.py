"""Measures counts, extremes, the latest rows and joins, of which the index knows something, on a thousand files."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from peers.engines import ENGINES
from peers.parts.thousand import KEYS, ROWS, make
from peers.plans import final, sum_of_files
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import start

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

    from peers.sessions import Setting

FILES = 1000
WARM_UP = 3
FASTER, LATEST_FILES, OVER_EMPTY = 5, 3, 20
WHOLE = ("count(*)", "min and max")
TWENTY = "s_city BETWEEN 'CITY00340' AND 'CITY00359'"
JOIN = "SELECT count(*), sum(quantity) FROM {} JOIN cities ON s_city = city WHERE area = 17"
FLAT = f"SELECT count(*), sum(quantity) FROM {{}} WHERE {TWENTY}"
OVER_FLAT = 1.2
LATEST = "SELECT * FROM {} ORDER BY orderkey DESC LIMIT 100"
LARGEST = "the 5 largest of a column outside of the layout"


def run(setting: Setting) -> Part:
    """Cluster the rows by their number, which rises with time, or by three columns, and ask the engines alike."""
    spark = start(setting)
    rows = round(ROWS * setting.scale)
    source = make(spark, rows, setting.work)
    tenth = rows // 10
    low = tenth * 3 + 7
    tables = {
        ("orderkey",): {
            "count(*)": "SELECT count(*) FROM {}",
            "min and max": "SELECT min(orderkey), max(orderkey), max(orderdate) FROM {}",
            "a count of a tenth": f"SELECT count(*) FROM {{}} WHERE orderkey BETWEEN {low} AND {low + tenth - 1}",
            "the latest 100 rows": LATEST,
            LARGEST: "SELECT revenue FROM {} ORDER BY revenue DESC LIMIT 5",
        },
        ("orderkey", "s_city", "p_brand"): {
            "the latest 100 rows of three columns": LATEST,
            "a filter of 20 cities": FLAT,
            "a join with 20 of 5,025 cities": JOIN,
        },
    }
    cities = setting.work / "answers-cities"
    spark.range(KEYS["s_city"][2]).selectExpr(
        "concat('CITY', lpad(CAST(id AS STRING), 5, '0')) AS city", "id DIV 20 AS area"
    ).coalesce(1).write.mode("overwrite").parquet(str(cities))
    spark.read.parquet(str(cities)).createOrReplaceTempView("cities")
    steps = Steps(sum(len(ENGINES) + len(q) * (setting.queries + WARM_UP) for q in tables.values()))
    part = Part("answers", f"Counts, extremes and the latest rows, {FILES:,} files, {rows:,} rows")
    empty = _empty(spark, setting.queries)
    part.figures.append(Figure("an empty query", "ms", {"ours": empty}, compared=False))
    for keys, questions in tables.items():
        engines = [e(spark, source, setting.work / f"answers-{len(keys)}", list(keys), FILES) for e in ENGINES]
        views = {}
        for engine in engines:
            steps.next(f"clustering: {engine.name}")
            engine.prepare()
            engine.optimize()
            views[engine.name] = engine.view()
        flat = 0
        for name, template in questions.items():
            times, files = _asked(spark, views, name, template, setting, steps)
            part.figures.append(Figure(name, "ms", times))
            part.where.append(f"{name}, files read: {', '.join(f'{e} {n:,}' for e, n in files.items())}")
            if template == FLAT:
                flat = files["ours"]
            elif template == JOIN:
                part.checks += _joined(name, times, files, flat)
            else:
                part.checks += _checks(name, times, files, _layer(spark, views["ours"], keys), empty)
    spark.stop()
    part.settings = {
        "data": f"{rows:,} rows in {FILES:,} files, clustered by one column that rises with time, or by three",
        "spark": "Spark's own range rewrite, skipping off",
        "measured": f"{setting.queries} queries of each engine in turns, after {WARM_UP} to warm up",
    }
    return part


def _asked(
    spark: SparkSession, views: dict[str, str], name: str, template: str, setting: Setting, steps: Steps
) -> tuple[dict[str, list[float]], dict[str, int]]:
    """The times of each engine in ms, and the files that it reads."""
    times: dict[str, list[float]] = {peer: [] for peer in views}
    files: dict[str, int] = {}
    for n in range(setting.queries + WARM_UP):
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
                files[peer] = sum_of_files(final(frame))
        assert len(answers) == 1, (name, answers)
    return times, files


def _layer(spark: SparkSession, view: str, keys: Sequence[str]) -> int:
    """The files of the topmost slice of the first key, which its bounds cannot tell apart."""
    if len(keys) == 1:
        return LATEST_FILES
    spark.conf.set("spark.zorder.skipping.enabled", "false")
    files = spark.sql(
        f"SELECT min({keys[0]}) AS low, max({keys[0]}) AS high FROM {view} GROUP BY input_file_name()"
    ).collect()
    least = max(f.low for f in files)
    return sum(f.high >= least for f in files)


def _checks(
    name: str, times: dict[str, list[float]], files: dict[str, int], layer: int, empty: list[float]
) -> list[Check]:
    ours = statistics.median(times["ours"])
    checks = []
    if name in WHOLE:
        checks.append(Check(f"{name}: files read", files["ours"], 0))
        over = ours - statistics.median(empty)
        checks.append(Check(f"{name}: more than an empty query, ms", over, OVER_EMPTY))
    elif name == LARGEST:
        checks.append(Check(f"{name}: files read", files["ours"], 5))
    elif name.startswith("the latest"):
        checks.append(Check(f"{name}: files read", files["ours"], layer))
    else:
        checks.append(Check(f"{name}: files read", files["ours"], 2))
    for peer, took_by in times.items():
        if peer != "ours" and files[peer] > 0:
            ratio = statistics.median(took_by) / ours
            checks.append(Check(f"{name}: {peer} / ours", ratio, FASTER, at_least=True))
    return checks


def _joined(name: str, times: dict[str, list[float]], files: dict[str, int], flat: int) -> list[Check]:
    """The table that is joined is as good as its flattened form. The files of the small table are one more."""
    ours = statistics.median(times["ours"])
    faster = [
        Check(f"{name}: {peer} / ours", statistics.median(took) / ours, 1, at_least=True)
        for peer, took in times.items()
        if peer != "ours"
    ]
    return [Check(f"{name}: files read, over those of the filter", (files["ours"] - 1) / flat, OVER_FLAT), *faster]


def _empty(spark: SparkSession, count: int) -> list[float]:
    found = []
    for n in range(count + WARM_UP):
        frame = spark.sql("SELECT 1 AS one")
        begin = time.perf_counter()
        frame.collect()
        if n >= WARM_UP:
            found.append((time.perf_counter() - begin) * 1e3)
    return found
