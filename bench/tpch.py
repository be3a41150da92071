"""OPTIMIZE and point queries on TPC-H's wide table, ours and Delta's in one run, interleaved.

Run with the Python of a Spark that Delta is made for:

    build/envs/4.1/bin/python bench/tpch.py --scale 1 --rounds 2

Writes bench/results/tpch-<scale>-<date>.md and .json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import platform
import random
import shutil
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peers.wide import KEYS, make, touched

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

ROOT = Path(__file__).resolve().parent.parent
FILES = 100
DELTA = "io.delta:delta-spark_4.1_2.13:4.4.0"


def start(jar: Path, cores: int) -> SparkSession:
    """A session with Delta's extension and ours."""
    from pyspark.sql import SparkSession

    return (
        SparkSession.builder.master(f"local[{cores}]")
        .config("spark.jars.packages", DELTA)
        .config("spark.jars", str(jar))
        .config(
            "spark.sql.extensions",
            "io.delta.sql.DeltaSparkSessionExtension,org.sparkzorder.ZOrderSparkExtension",
        )
        .config(
            "spark.sql.catalog.spark_catalog",
            "org.apache.spark.sql.delta.catalog.DeltaCatalog",
        )
        .config("spark.driver.memory", "6g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .getOrCreate()
    )


def timed(spark: SparkSession, statement: str) -> tuple[float, Row]:
    """Seconds of a statement, and the one row of its result."""
    begin = time.perf_counter()
    [row] = spark.sql(statement).collect()
    return time.perf_counter() - begin, row


def spread(values: list[float]) -> dict[str, float]:
    """Median with its extremes."""
    return {
        "median": statistics.median(values),
        "min": min(values),
        "max": max(values),
        "n": len(values),
    }


def main() -> None:
    """Measure and write."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--scale", type=float, default=1)
    arguments.add_argument("--rounds", type=int, default=2)
    arguments.add_argument("--queries", type=int, default=15, help="lookups of each key")
    arguments.add_argument("--cores", type=int, default=2)
    arguments.add_argument(
        "--jar",
        type=Path,
        default=next(iter(sorted((ROOT / "build" / "jars").glob("*-4.1-*.jar"))), None),
    )
    arguments.add_argument("--tpchgen", type=Path, default=ROOT / ".venv" / "bin" / "tpchgen-cli")
    arguments.add_argument("--work", type=Path, default=ROOT / "build" / "bench")
    given = arguments.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    spark = start(given.jar, given.cores)
    source = make(spark, given.scale, given.work, given.tpchgen)
    size = sum(p.stat().st_size for p in source.glob("*.parquet"))
    spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(size // FILES))
    ours, delta = given.work / "ours", given.work / "delta"
    optimize: dict[str, list[float]] = {"ours": [], "delta": []}
    counts: dict[str, int] = {}
    plain_delta = given.work / "delta-source"
    shutil.rmtree(plain_delta, ignore_errors=True)
    shutil.copytree(source, plain_delta)
    spark.sql(f"CONVERT TO DELTA parquet.`{plain_delta}`")  # the very same files
    by = ", ".join(KEYS)
    for r in range(given.rounds):
        shutil.rmtree(ours, ignore_errors=True)
        shutil.copytree(source, ours)
        shutil.rmtree(delta, ignore_errors=True)
        shutil.copytree(plain_delta, delta)
        statements = {
            "ours": f"OPTIMIZE parquet.`{ours}` ZORDER BY ({by}) OPTIONS ('num-files' = '{FILES}')",
            "delta": f"OPTIMIZE delta.`{delta}` ZORDER BY ({by})",
        }
        for engine in ("ours", "delta") if r % 2 == 0 else ("delta", "ours"):
            seconds, row = timed(spark, statements[engine])
            counts[engine] = row.metrics.numFilesAdded
            optimize[engine].append(seconds)
            print(
                f"round {r + 1}: OPTIMIZE {engine} {seconds:.1f} s, {counts[engine]} files",
                flush=True,
            )
    files_touched = touched(ours)
    print("files touched", files_touched, flush=True)
    spark.read.parquet(str(ours)).createOrReplaceTempView("ours")
    spark.read.format("delta").load(str(delta)).createOrReplaceTempView("delta_table")
    generator = random.Random(7)
    values = {
        k: [row[0] for row in spark.sql(f"SELECT {k} FROM ours").sample(0.0001, 3).limit(200).collect()] for k in KEYS
    }
    latency: dict[str, dict[str, list[float]]] = {k: {"on": [], "off": [], "delta": []} for k in KEYS}
    for q in range(given.queries + 3):
        for k in KEYS:
            value = generator.choice(values[k])
            answers = {}
            for mode in ("on", "off", "delta"):
                spark.conf.set(
                    "spark.zorder.skipping.enabled",
                    "false" if mode == "off" else "true",
                )
                view = "delta_table" if mode == "delta" else "ours"
                sql = f"SELECT count(*), sum(l_extendedprice) FROM {view} WHERE {k} = {value}"
                seconds, answers[mode] = timed(spark, sql)
                if q >= 3:  # the first ones warm the JVM up
                    latency[k][mode].append(seconds * 1000)
            assert answers["on"] == answers["off"] == answers["delta"], (
                k,
                value,
                answers,
            )
    result = {
        "date": datetime.date.today().isoformat(),
        "machine": f"{os.cpu_count()} cores, {platform.system()} {platform.machine()}",
        "spark": spark.version,
        "delta": DELTA.rsplit(":", 1)[1],
        "scale": given.scale,
        "rows": spark.table("ours").count(),
        "input_bytes": size,
        "files": counts,
        "optimize_seconds": {e: spread(v) for e, v in optimize.items()},
        "optimize_ratio_to_delta": statistics.median(optimize["ours"]) / statistics.median(optimize["delta"]),
        "files_touched": files_touched,
        "files_touched_mean": statistics.mean(files_touched.values()),
        "point_query_ms": {k: {m: spread(v) for m, v in modes.items()} for k, modes in latency.items()},
        "point_query_ratio_to_off": {
            k: statistics.median(m["on"]) / statistics.median(m["off"]) for k, m in latency.items()
        },
        "point_query_ratio_to_delta": {
            k: statistics.median(m["on"]) / statistics.median(m["delta"]) for k, m in latency.items()
        },
    }
    write(result)
    spark.stop()


def write(result: dict[str, Any]) -> None:
    """The figures as JSON and as a page."""
    name = f"tpch-{result['scale']:g}-{result['date']}"
    folder = ROOT / "bench" / "results"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.json").write_text(json.dumps(result, indent=2) + "\n")
    ms = result["point_query_ms"]
    lines = [
        f"# TPC-H's wide table, scale {result['scale']:g}, {result['date']}",
        "",
        (
            f"{result['rows']:,} rows, {result['input_bytes'] / 1e6:.0f} MB in 64 files; {result['machine']}; Spark "
            f"{result['spark']}, Delta {result['delta']}; ours and Delta in one session, interleaved. "
            "Medians, with the extremes in brackets."
        ),
        "",
        "| | ours | Delta | ratio |",
        "|---|---|---|---|",
    ]
    times = result["optimize_seconds"]

    def told(s: dict[str, float], digits: int) -> str:
        return f"{s['median']:.{digits}f} ({s['min']:.{digits}f} to {s['max']:.{digits}f})"

    lines.append(
        f"| OPTIMIZE by three keys, s | {told(times['ours'], 1)} | {told(times['delta'], 1)} "
        f"| {result['optimize_ratio_to_delta']:.2f} |"
    )
    lines.append(f"| files written | {result['files']['ours']} | {result['files']['delta']} | |")
    lines += [
        "",
        "| point query, ms | skipping on | off | Delta | on / off | on / Delta | files touched |",
        "|---|---|---|---|---|---|---|",
    ]
    for k in KEYS:
        lines.append(
            f"| {k} | {told(ms[k]['on'], 0)} | {told(ms[k]['off'], 0)} | {told(ms[k]['delta'], 0)} "
            f"| {result['point_query_ratio_to_off'][k]:.2f} | {result['point_query_ratio_to_delta'][k]:.2f} "
            f"| {result['files_touched'][k]:.1f} |"
        )
    lines += [
        "",
        f"Files touched by a point lookup, mean of the three keys: {result['files_touched_mean']:.1f} "
        f"of {result['files']['ours']}.",
        "",
    ]
    (folder / f"{name}.md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
