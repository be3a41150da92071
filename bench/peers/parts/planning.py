"""What planning costs where nothing can be skipped, with the extension and without, in one JVM."""

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


def run(setting: Setting) -> Part:
    """Each query is planned in both sessions, who is first turns; two rounds warm the JVM up."""
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
    part = Part("planning", f"Planning of {QUERIES} queries that nothing can be skipped of", figures=figures)
    part.settings = {
        "queries": f"{QUERIES} of {len(SHAPES)} shapes, or two without a filter, {rounds} times; text to physical plan",
        "sessions": "two in one JVM, the same but for spark.sql.extensions, in turns",
    }
    for figure in figures:
        # Shapes differ more than modes do: each query is compared with itself.
        pairs = list(zip(figure.values["with"], figure.values["without"], strict=True))
        ratio = statistics.median(a / b for a, b in pairs)
        more = statistics.median(a - b for a, b in pairs)
        part.checks.append(Check(f"{figure.name}: with / without, median of pairs", ratio, RATIO))
        part.checks.append(Check(f"{figure.name}: more, median of pairs, ms", more, MORE_MS))
    return part


def _sessions(setting: Setting) -> dict[str, Any]:
    """Extensions are read from the context's settings when a session is made."""
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
