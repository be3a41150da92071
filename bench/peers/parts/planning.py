"""Measures planning where nothing can be skipped, with the extension and without it, in one JVM."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import OURS

if TYPE_CHECKING:
    from pathlib import Path

    from peers.sessions import Setting

QUERIES = 200
FILES = 20
RATIO, MORE_MS = 1.02, 2.0
SHAPES = (
    "SELECT count(*), sum(v) FROM {t} WHERE k = {n}",
    "SELECT k, max(v) FROM {t} WHERE v > {n} AND name LIKE 'n{n}%' GROUP BY k ORDER BY k",
    "SELECT x.k, y.v FROM {t} x JOIN {t} y ON x.k = y.k WHERE x.v < {n} AND y.name <> 'a'",
    "SELECT * FROM {t} WHERE k IN ({n}, 2, 3, 5, 7) OR v BETWEEN {n} AND 1000",
)
WITHOUT_FILTER = ("SELECT count(*), sum(v + {n}) FROM {t}", "SELECT k, max(v) + {n} FROM {t} GROUP BY k ORDER BY k")
TABLES = {
    "a table without _zorder": ("plain", SHAPES),
    "JSON": ("json", SHAPES),
    "cached": ("cached", SHAPES),
    "indexed, no filter": ("indexed", WITHOUT_FILTER),
}
MODES = ("with", "without")
NAMED = 2000
VALUES = 20_000
LONG_RATIO = 1.5
LONG_ROUNDS = 10
REUSED = (
    "SELECT k, count(*) FROM {t} WHERE k < 9 AND v > 10 GROUP BY k"
    " UNION ALL SELECT k, count(*) FROM {t} WHERE v > 10 AND k < 9 GROUP BY k",
    "SELECT k, count(*) FROM {t} WHERE v < 10 OR k = 7 GROUP BY k"
    " UNION ALL SELECT k, count(*) FROM {t} WHERE k = 7 OR v < 10 GROUP BY k",
    "SELECT k, count(*) FROM {t} WHERE v BETWEEN 10 AND 900 GROUP BY k"
    " UNION ALL SELECT k, count(*) FROM {t} WHERE v <= 900 AND v >= 10 GROUP BY k",
    "SELECT (SELECT max(v) FROM {t} WHERE k < 9 AND v > 10), (SELECT max(v) FROM {t} WHERE v > 10 AND k < 9)",
)


def run(setting: Setting) -> Part:
    """Plan each query in both sessions, in alternating order. Two rounds warm the JVM up."""
    sessions = _sessions(setting)
    _tables(sessions["with"], setting.work / "planning")
    for session in sessions.values():
        _views(session, setting.work / "planning")
    rounds = max(2, setting.rounds)
    steps = Steps((rounds + 2) * len(TABLES))
    times: dict[str, dict[str, list[float]]] = {name: {mode: [] for mode in MODES} for name in TABLES}
    for r in range(rounds + 2):
        for name, (table, shapes) in TABLES.items():
            steps.next(f"{QUERIES} queries, {name}")
            for n in range(QUERIES):
                sql = shapes[n % len(shapes)].format(t=table, n=n + QUERIES * r)
                for mode in MODES if n // len(shapes) % 2 == 0 else reversed(MODES):
                    took = _plan(sessions[mode], sql)
                    if r >= 2:
                        times[name][mode].append(took)
    figures = [Figure(f"planning, {name}", "ms", modes) for name, modes in times.items()]
    part = Part("planning", f"Planning of {QUERIES} queries that can skip nothing", figures=figures)
    part.settings = {
        "queries": f"{QUERIES} of {len(SHAPES)} shapes, or two without a filter, {rounds} times; text to physical plan",
        "sessions": "two in one JVM, equal except for spark.sql.extensions, in turns",
    }
    for figure in figures:
        # Shapes differ more than sessions do, so each query is compared with itself.
        pairs = list(zip(figure.values["with"], figure.values["without"], strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        more = statistics.median(a - b for a, b in pairs)
        part.checks.append(Check(f"{figure.name}: with / without, median of pairs", ratio, RATIO))
        part.checks.append(Check(f"{figure.name}: more, median of pairs, ms", more, MORE_MS))
    _long(sessions, setting.work / "planning", part)
    reused = {mode: [float(_reused(session))] for mode, session in sessions.items()}
    part.figures.append(Figure("exchanges and subqueries reused, conditions in another order", "nodes", reused))
    missing = reused["without"][0] - reused["with"][0]
    part.checks.append(Check("exchanges and subqueries not reused that Spark reuses", missing, 0))
    return part


def _long(sessions: dict[str, Any], folder: Path, part: Part) -> None:
    """Plan queries that name many files, or have many values. Each runs in both sessions."""
    files = sorted(str(file) for file in (folder / "named").glob("*.parquet"))
    for session in sessions.values():
        session.read().parquet(_strings(session, *files)).createOrReplaceTempView("named")
    numbers = ", ".join(str(n * 37) for n in range(VALUES))
    names = ", ".join(f"'n{n}'" for n in range(VALUES))
    for name, sql in (
        (f"{NAMED:,} files named", "SELECT * FROM named WHERE v = {n}"),
        (f"IN of {VALUES:,} numbers", f"SELECT * FROM indexed WHERE k <> {{n}} AND v IN ({numbers})"),
        (f"IN of {VALUES:,} strings", f"SELECT * FROM indexed WHERE k <> {{n}} AND name IN ({names})"),
    ):
        times: dict[str, list[float]] = {mode: [] for mode in MODES}
        for n in range(LONG_ROUNDS + 4):
            for mode in MODES if n % 2 == 0 else reversed(MODES):
                took = _plan_analyzed(sessions[mode], sql.format(n=-1 - n))
                if n >= 4:
                    times[mode].append(took)
        ratios = [a / b for a, b in zip(times["with"], times["without"], strict=True)]
        part.figures.append(Figure(f"planning, {name}", "ms", times))
        part.figures.append(Figure(f"planning, {name}: with / without", "", {"pairs": ratios}, compared=False))
        part.checks.append(
            Check(f"planning, {name}: with / without, median of pairs", statistics.median(ratios), LONG_RATIO)
        )


def _reused(session: Any) -> int:
    """Turn adaptive execution off, because it reuses exchanges only at run time."""
    session.conf().set("spark.sql.adaptive.enabled", "false")
    plans = [session.sql(sql.format(t="indexed")).queryExecution().executedPlan().toString() for sql in REUSED]
    session.conf().set("spark.sql.adaptive.enabled", "true")
    return sum(plan.count("ReusedExchange") + plan.count("ReusedSubquery") for plan in plans)


def _sessions(setting: Setting) -> dict[str, Any]:
    """Make a session. It reads its extensions from the settings of the context."""
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(f"local[{setting.cores}]")
        .config("spark.jars", str(setting.jar))
        .config("spark.sql.warehouse.dir", str(setting.work / "warehouse"))
        .config("spark.driver.memory", setting.heap)
        .config("spark.ui.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    jvm: Any = spark._jvm
    sessions = jvm.org.apache.spark.sql.classic.SparkSession
    without = spark._jsparkSession
    context: Any = spark.sparkContext._jsc
    context.sc().conf().set("spark.sql.extensions", OURS)
    sessions.clearActiveSession()
    sessions.clearDefaultSession()
    extended = sessions.builder().getOrCreate()
    assert not extended.equals(without)
    return {"with": extended, "without": without}


def _tables(session: Any, folder: Path) -> None:
    if (folder / "indexed" / "_zorder").exists():
        return
    rows = session.range(100_000).selectExpr(
        _strings(session, "id % 1000 AS k", "id AS v", "concat('n', id % 777) AS name")
    )
    for table, kind in (("plain", "parquet"), ("json", "json"), ("cached", "parquet"), ("indexed", "parquet")):
        rows.repartition(FILES).write().mode("overwrite").format(kind).save(str(folder / table))
    rows.limit(10 * NAMED).repartition(NAMED).write().mode("overwrite").parquet(str(folder / "named"))
    session.sql(f"CREATE OR REPLACE SKIPPING INDEX ON parquet.`{folder / 'indexed'}`").collectAsList()


def _views(session: Any, folder: Path) -> None:
    for table, _ in TABLES.values():
        kind = "json" if table == "json" else "parquet"
        session.read().format(kind).load(str(folder / table)).createOrReplaceTempView(table)
    session.catalog().cacheTable("cached")
    session.sql("SELECT count(*) FROM cached").collectAsList()


def _strings(session: Any, *values: str) -> Any:
    from pyspark import SparkContext

    gateway: Any = SparkContext._gateway
    array = gateway.new_array(gateway.jvm.java.lang.String, len(values))
    for i, value in enumerate(values):
        array[i] = value
    return array


def _plan(session: Any, sql: str) -> float:
    begin = time.perf_counter()
    session.sql(sql).queryExecution().executedPlan()
    return (time.perf_counter() - begin) * 1e3


def _plan_analyzed(session: Any, sql: str) -> float:
    """Plan from resolved names to a physical plan, because Spark alone parses the text of thousands of values."""
    execution = session.sql(sql).queryExecution()
    begin = time.perf_counter()
    execution.executedPlan()
    return (time.perf_counter() - begin) * 1e3
