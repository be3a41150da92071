"""Measures lookups by the size of files: `make bench-sizes`. It is the reason for the default size.

A table is clustered by two of its columns, again and again with another size of files. More files let a lookup read
fewer bytes, but each file costs time to open. Writes bench/results/sizes-<date>.md, .json and .svg.
"""

from __future__ import annotations

import argparse
import datetime
import json
import random
import shutil
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import session
from layout import uniform

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
KEYS = {"user": 100_000, "item": 20_000}
SIZES = (512, 256, 128, 64, 32, 16, 8, 4, 2, 1)
LOOKUPS = 15
SEED = 11
BYTES_OF_ROW = 110


def write(spark: SparkSession, folder: Path, mebibytes: int) -> None:
    """Write the table: two keys, and text that does not compress."""
    rows = mebibytes * (1 << 20) // BYTES_OF_ROW
    text = ", ".join(f"sha2(CAST(id + {n} AS STRING), 256)" for n in (0, rows))
    keys = [uniform(key, distinct, n) for n, (key, distinct) in enumerate(KEYS.items(), 1)]
    spark.range(0, rows, 1, 8).selectExpr("id", *keys, f"concat({text}) AS payload").write.parquet(str(folder))


def lookups(spark: SparkSession, folder: Path) -> list[float]:
    """Milliseconds of lookups of random values, by one key after the other."""
    drawn = random.Random(SEED)
    table = f"parquet.`{folder}`"
    taken = []
    for n in range(2 * LOOKUPS):
        key = list(KEYS)[n % 2]
        query = f"SELECT count(payload), max(payload) FROM {table} WHERE `{key}` = {drawn.randrange(KEYS[key])}"
        begin = time.perf_counter()
        spark.sql(query).collect()
        taken.append(1000 * (time.perf_counter() - begin))
    return taken[4:]


def measure(spark: SparkSession, source: Path, folder: Path, size: int) -> dict[str, Any]:
    """Cluster a copy of the table into files of this many MiB, and look values up."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    statement = f"OPTIMIZE parquet.`{folder}` ZORDER BY ({', '.join(KEYS)})"
    begin = time.perf_counter()
    metrics = spark.sql(f"{statement} OPTIONS ('target-file-size-bytes' = '{size} MiB')").collect()[0].metrics
    seconds = time.perf_counter() - begin
    taken = lookups(spark, folder)
    quartiles = statistics.quantiles(taken, n=4)
    touched = statistics.mean(c.meanFilesAfter for c in metrics.clustering)
    return {
        "mib": size,
        "files": metrics.numFilesAdded,
        "touched": touched,
        "bytes_read": touched / metrics.numFilesAdded,
        "ms": quartiles[1],
        "ms_quartiles": [quartiles[0], quartiles[2]],
        "seconds": seconds,
    }


def draw(results: list[dict[str, Any]], mebibytes: int, target: Path) -> None:
    """Draw the time of a lookup and the share that it reads, over the number of files."""
    import matplotlib as mpl

    mpl.use("svg")
    from matplotlib import pyplot as plt

    files = [r["files"] for r in results]
    canvas, left = plt.subplots(figsize=(7, 4))
    low = [r["ms"] - r["ms_quartiles"][0] for r in results]
    high = [r["ms_quartiles"][1] - r["ms"] for r in results]
    left.errorbar(files, [r["ms"] for r in results], yerr=[low, high], marker="o", color="#0b6e99", capsize=3)
    left.set_xscale("log", base=2)
    left.set_xticks(files, [f"{r['files']} of {r['mib']} MiB" for r in results], fontsize=8, rotation=35, ha="right")
    left.set_xlabel("number and size of files")
    left.set_ylabel("milliseconds of a lookup", color="#0b6e99")
    left.set_ylim(bottom=0)
    right = left.twinx()
    right.plot(files, [100 * r["bytes_read"] for r in results], marker="s", color="#c2570c", linestyle="--")
    right.set_ylabel("per cent of the table read", color="#c2570c")
    right.set_ylim(bottom=0)
    left.set_title(f"A lookup in a table of {mebibytes} MiB, clustered by two columns", fontsize=10)
    left.grid(alpha=0.3)
    canvas.tight_layout()
    canvas.savefig(target)


def main() -> None:
    """Measure all sizes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--mib", type=int, default=512, help="size of the table")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "sizes")
    given = parser.parse_args()
    spark = session.start(given.jar, "3g")
    shutil.rmtree(given.work, ignore_errors=True)
    given.work.mkdir(parents=True)
    source = given.work / "source"
    write(spark, source, given.mib)
    results = []
    for size in SIZES:
        results.append(measure(spark, source, given.work / "table", size))
        print(json.dumps(results[-1]), flush=True)
    spark.stop()
    shutil.rmtree(given.work)
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    target = ROOT / "bench" / "results" / f"sizes-{date}"
    target.with_suffix(".json").write_text(json.dumps(results, indent=2) + "\n")
    draw(results, given.mib, target.with_suffix(".svg"))
    head = f"""# Lookups by the size of files, {date}

A table of {given.mib} MiB is clustered by two columns. A lookup asks for one value of one of them, in turns, on two
cores and a local disk. Medians and quartiles of {2 * LOOKUPS - 4} lookups.

| size asked for | files | files read | of the table | lookup, ms | quartiles | OPTIMIZE, s |
|---|---|---|---|---|---|---|
"""
    lines = [
        f"| {r['mib']} MiB | {r['files']} | {r['touched']:.1f} | {100 * r['bytes_read']:.1f} % | **{r['ms']:.0f}** "
        f"| {r['ms_quartiles'][0]:.0f} to {r['ms_quartiles'][1]:.0f} | {r['seconds']:.0f} |\n"
        for r in results
    ]
    target.with_suffix(".md").write_text(head + "".join(lines))


if __name__ == "__main__":
    main()
