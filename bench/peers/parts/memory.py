"""Measures filters that statistics cannot use, when they are asked for the first time and again."""

from __future__ import annotations

import os
import random
import statistics
import time
from typing import TYPE_CHECKING, Any

from peers import wide
from peers.plans import final, sum_of_files
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import settle, start

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import Row, SparkSession

    from peers.sessions import Setting

WIDE_FILES = 124
SSB_FILES = 1000
SSB_ROWS = 6_000_000

# Conditions that hold for one row each, or for few. `{..}` are the values of a row.
WIDE = {
    "substring": "substring(l_comment, 2, 8) = '{comment}' AND l_linenumber + 0 = {l_linenumber}",
    "upper": "upper(c_name) = '{name}' AND l_quantity + 0 = {l_quantity}",
    "modulo": "l_orderkey % 1000003 = {modulo} AND l_linenumber + 0 = {l_linenumber}",
    "two columns": "l_partkey + l_suppkey = {sum} AND l_orderkey % 100 = {hundredth}",
    "CASE": "CASE WHEN l_linenumber > 0 THEN l_orderkey ELSE 0 END = {l_orderkey}",
    "a rare pair": "l_partkey = {l_partkey} AND o_custkey = {o_custkey}",
    "a day as text": "date_format(l_shipdate, 'yyyyMMdd') = '{day}' AND l_suppkey + 0 = {l_suppkey}",
    "a product": "l_extendedprice * (1 - l_discount) = {price} AND l_partkey % 1000 = {thousandth}",
    "LIKE": "l_comment LIKE '%{comment}%' AND l_suppkey % 100 = {hundred}",
    "concat": "concat(l_shipmode, '-', l_orderkey) = '{mode}'",
}
SSB = {
    "substring": "substring(s_city, 6, 4) = '{city}' AND quantity + 0 = {quantity} AND pmod(orderkey, 1000) = {rest}",
    "upper": "lower(p_brand) = '{brand}' AND quantity + 0 = {quantity}",
    "modulo": "orderkey % 1000003 = {modulo}",
    "a rare pair": "s_city = '{s_city}' AND p_brand = '{p_brand}'",
    "concat": "concat(s_city, c_city) = '{cities}' AND quantity + 0 = {quantity}",
}
SCANNED = "SELECT count(*), sum({summed}) FROM {table} WHERE {condition}"

FASTER, FEW_FILES = 5, 0.02
LEARNING = 1.02
PAIRS = 15


def run(setting: Setting) -> Part:
    """Ask each filter twice, with new values in each round, beside Delta and Spark without skipping."""
    spark = start(setting, spark_zorder_memory_enabled="true")
    part = Part("memory", "Filters that statistics cannot use, and the memory of what they found")
    steps = Steps(2 + (len(WIDE) + len(SSB)) * setting.rounds + 2)
    steps.next("the wide table")
    tpch = _wide(spark, setting)
    _asked(spark, tpch, WIDE, "l_extendedprice", _wide_values(spark, tpch, setting.rounds), part, steps)
    steps.next("a thousand files")
    ssb = _ssb(spark, setting)
    _asked(spark, ssb, SSB, "revenue", _ssb_values(spark, ssb, setting.rounds), part, steps)
    steps.next("the cost of learning")
    _learning(spark, tpch, part)
    steps.next("planning with 1,000 filters")
    _planning(spark, tpch, part)
    spark.stop()
    part.settings = {
        "wide": f"TPC-H's wide table, scale {setting.scale:g}, {WIDE_FILES} files, rows in the order of a hash",
        "ssb": f"three columns of strings, {SSB_ROWS * setting.scale:,.0f} rows in {SSB_FILES} files, rows at random",
        "delta": "the same files, converted; Delta's own statistics",
        "spark": "our extension with skipping and memory off",
        "query": "SELECT count(*), sum(..) FROM t WHERE ..; other values in each round",
    }
    return part


def _asked(
    spark: SparkSession,
    table: Path,
    filters: dict[str, str],
    summed: str,
    rows: list[dict[str, Any]],
    part: Part,
    steps: Steps,
) -> None:
    """Ask each filter of all engines. Their answers must agree."""
    # Memory learns of tables with an index only. Bounds say nothing about these filters.
    spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON parquet.`{table}`")
    spark.read.parquet(str(table)).createOrReplaceTempView("ours")
    delta = f"delta.`{table.with_name(f'delta-{table.name}')}`"
    files = len(list(table.glob("*.parquet")))
    few: list[float] = []
    useless = 0
    for name, template in filters.items():
        times: dict[str, list[float]] = {"ours, again": [], "ours, first": [], "delta": [], "spark": []}
        opened: list[str] = []
        for row in rows:
            steps.next(f"{table.name}: {name}")
            condition = template.format(**row)
            answers = {}
            for engine in ("ours, first", "spark", "delta", "ours, again"):
                memory = "true" if engine.startswith("ours") else "false"
                spark.conf.set("spark.zorder.memory.enabled", memory)
                spark.conf.set("spark.zorder.skipping.enabled", memory)
                view = delta if engine == "delta" else "ours"
                frame = spark.sql(SCANNED.format(summed=summed, table=view, condition=condition))
                begin = time.perf_counter()
                answers[engine] = frame.collect()
                times[engine].append((time.perf_counter() - begin) * 1e3)
                if engine == "ours, again":
                    read = sum_of_files(final(frame))
            assert len({str(a) for a in answers.values()}) == 1, (condition, answers)
            spark.conf.set("spark.zorder.skipping.enabled", "false")
            spark.conf.set("spark.zorder.memory.enabled", "false")
            of_files = f"SELECT count(DISTINCT _metadata.file_path) FROM parquet.`{table}` WHERE {condition}"
            [with_rows] = spark.sql(of_files).collect()[0]
            useless += read - with_rows
            opened.append(f"{read} of {files} ({with_rows} with rows)")
            if with_rows <= FEW_FILES * files:
                few.append(times["delta"][-1] / times["ours, again"][-1])
        part.figures.append(Figure(f"{table.name}, {name}", "ms", times))
        part.where.append(f"{table.name}, {name}: the second run opens {', '.join(opened)}")
    part.checks.append(Check(f"{table.name}: files that the second runs open without a row", useless, 0))
    if few:
        what = f"{table.name}: Delta / second run, where at most 2 % of files have rows, median of {len(few)}"
        part.checks.append(Check(what, statistics.median(few), FASTER, at_least=True))


def _learning(spark: SparkSession, table: Path, part: Part) -> None:
    """A filter that each row passes, with memory and without, in turns."""
    spark.read.parquet(str(table)).createOrReplaceTempView("ours")
    spark.conf.set("spark.zorder.skipping.enabled", "true")
    times: dict[str, list[float]] = {"memory on": [], "memory off": []}
    for n in range(PAIRS + 3):
        for mode in list(times) if n % 2 else list(times)[::-1]:
            spark.conf.set("spark.zorder.memory.enabled", "true" if mode == "memory on" else "false")
            settle(spark)
            begin = time.perf_counter()
            spark.sql("SELECT sum(l_quantity), count(*) FROM ours WHERE length(l_comment) + l_linenumber > 0").collect()
            if n >= 3:
                times[mode].append((time.perf_counter() - begin) * 1e3)
    ratios = [a / b for a, b in zip(times["memory on"], times["memory off"], strict=True)]
    part.figures.append(Figure("a filter that all rows pass", "ms", times))
    part.checks.append(
        Check("a filter that all rows pass, memory on / off, median of pairs", statistics.median(ratios), LEARNING)
    )


def _planning(spark: SparkSession, table: Path, part: Part) -> None:
    """Plan queries that nothing is remembered of, while 1,000 filters of a table are."""
    small = table.with_name("memory-small")
    if not (small / "_SUCCESS").exists():
        spark.range(0, 8000, 1, 8).selectExpr("id", "id % 97 AS k", "concat('n', id) AS name").write.mode(
            "overwrite"
        ).parquet(str(small))
    _age(small)
    spark.read.parquet(str(small)).createOrReplaceTempView("small")
    times: dict[str, list[float]] = {}
    for known in (0, 1000):
        spark.conf.set("spark.zorder.memory.enabled", "true")
        for n in range(known):
            spark.sql(f"SELECT count(*) FROM small WHERE k + id % 10 = {n}").collect()
        for mode in ("on", "off"):
            spark.conf.set("spark.zorder.memory.enabled", "true" if mode == "on" else "false")
            found = []
            for n in range(200):
                frame: Any = spark.sql(f"SELECT count(*) FROM small WHERE k * 2 = {n} AND name LIKE '%{n}'")
                begin = time.perf_counter()
                frame._jdf.queryExecution().executedPlan()
                found.append((time.perf_counter() - begin) * 1e3)
            times[f"{known:,} remembered, memory {mode}"] = found[100:]
    part.figures.append(
        Figure("planning of a query that nothing is remembered of, 8 files", "ms", times, compared=False)
    )
    more = statistics.median(times["1,000 remembered, memory on"]) - statistics.median(
        times["1,000 remembered, memory off"]
    )
    part.checks.append(Check("planning with 1,000 remembered filters, more than with memory off, ms", more, 1))


def _wide(spark: SparkSession, setting: Setting) -> Path:
    """TPC-H's wide table in more files than it is made in, and the same for Delta."""
    source = wide.make(spark, setting.scale, setting.work, setting.tpchgen)
    table = setting.work / f"memory-wide-{setting.scale:g}"
    if not (table / "_SUCCESS").exists():
        spark.read.parquet(str(source)).repartition(WIDE_FILES).write.mode("overwrite").parquet(str(table))
    return _converted(spark, table)


def _ssb(spark: SparkSession, setting: Setting) -> Path:
    from peers.parts.thousand import make

    source = make(spark, round(SSB_ROWS * setting.scale), setting.work)
    table = setting.work / f"memory-ssb-{setting.scale:g}"
    if not (table / "_SUCCESS").exists():
        spark.read.parquet(str(source)).repartition(SSB_FILES).write.mode("overwrite").parquet(str(table))
    return _converted(spark, table)


def _converted(spark: SparkSession, table: Path) -> Path:
    import shutil

    delta = table.with_name(f"delta-{table.name}")
    if not (delta / "_delta_log").exists():
        shutil.rmtree(delta, ignore_errors=True)
        shutil.copytree(table, delta)
        spark.sql(f"CONVERT TO DELTA parquet.`{delta}`")
    return _age(table)


def _age(table: Path) -> Path:
    """Nothing is remembered about files of this moment."""
    hour_ago = time.time() - 3600
    for file in table.glob("*.parquet"):
        os.utime(file, (hour_ago, hour_ago))
    return table


def _drawn(spark: SparkSession, table: Path, columns: list[str], count: int) -> list[Row]:
    rows = spark.read.parquet(str(table)).select(*columns)
    drawn = rows.sample(min(1.0, 5e3 / rows.count()), 11).collect()
    return random.Random(5).sample(drawn, count)


def _wide_values(spark: SparkSession, table: Path, count: int) -> list[dict[str, Any]]:
    keys = ["l_linenumber", "l_orderkey", "l_partkey", "l_suppkey", "o_custkey", "l_quantity"]
    others = ["l_comment", "c_name", "l_shipdate", "l_extendedprice", "l_discount", "l_shipmode"]
    return [
        {
            **row.asDict(),
            "comment": row.l_comment[1:9].replace("'", "''").replace("%", "_"),
            "name": row.c_name.upper(),
            "modulo": row.l_orderkey % 1000003,
            "sum": row.l_partkey + row.l_suppkey,
            "hundredth": row.l_orderkey % 100,
            "day": f"{row.l_shipdate:%Y%m%d}",
            "price": row.l_extendedprice * (1 - row.l_discount),
            "thousandth": row.l_partkey % 1000,
            "hundred": row.l_suppkey % 100,
            "mode": f"{row.l_shipmode}-{row.l_orderkey}",
        }
        for row in _drawn(spark, table, [*keys, *others], count)
    ]


def _ssb_values(spark: SparkSession, table: Path, count: int) -> list[dict[str, Any]]:
    columns = ["s_city", "c_city", "p_brand", "orderkey", "quantity"]
    return [
        {
            **row.asDict(),
            "city": row.s_city[5:9],
            "brand": row.p_brand.lower(),
            "cities": row.s_city + row.c_city,
            "modulo": row.orderkey % 1000003,
            "rest": row.orderkey % 1000,
        }
        for row in _drawn(spark, table, columns, count)
    ]
