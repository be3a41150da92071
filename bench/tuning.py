"""Measures what settings of an application change for OPTIMIZE: the time, and the most memory that the process took.

Each setting has a process of its own, since most of them cannot be changed later. Processes come in turns. Writes
bench/results/tuning-<date>.md.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEYS = ("l_suppkey", "o_custkey", "l_partkey")
# Cores, heap, and what else is set.
KINDS: dict[str, tuple[int, str, dict[str, str]]] = {
    "2 cores, heap 6 GB": (2, "6g", {}),
    "1 core": (1, "6g", {}),
    "heap 1 GB": (2, "1g", {}),
    "`spark.shuffle.sort.bypassMergeThreshold` = 0": (2, "6g", {"spark.shuffle.sort.bypassMergeThreshold": "0"}),
    "`spark.io.compression.codec` = `zstd`": (2, "6g", {"spark.io.compression.codec": "zstd"}),
    "`spark.shuffle.compress` = `false`": (2, "6g", {"spark.shuffle.compress": "false"}),
    "`spark.sql.files.maxPartitionBytes` = 16 MB": (2, "6g", {"spark.sql.files.maxPartitionBytes": "16m"}),
}


def one(given: argparse.Namespace) -> None:
    """Optimize a copy of the table some times in this process. Prints the seconds and the memory."""
    from peers import wide
    from pyspark.sql import SparkSession

    cores, heap, settings = KINDS[given.kind] if given.kind else (2, given.heap, {})
    builder = SparkSession.builder.master(f"local[{cores}]").config("spark.driver.memory", heap)
    settings = {
        "spark.jars": str(given.jar),
        "spark.sql.extensions": "org.sparkzorder.ZOrderSparkExtension",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **settings,
    }
    for key, value in settings.items():
        builder = builder.config(key, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    source = wide.make(spark, given.scale, given.work, Path(sys.executable).with_name("tpchgen-cli"))
    if given.only_make:
        return
    folder = given.work / "tuned"
    seconds = []
    for _ in range(given.runs):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(source, folder)
        os.sync()
        began = time.monotonic()
        spark.sql(
            f"OPTIMIZE parquet.`{folder}` ZORDER BY ({', '.join(KEYS)}) OPTIONS ('num-files' = '{given.files}')"
        ).collect()
        seconds.append(time.monotonic() - began)
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    status = Path(f"/proc/{pid}/status").read_text()
    peak = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmHWM"))
    size = sum(p.stat().st_size for p in source.glob("*.parquet"))
    print(json.dumps({"seconds": seconds, "peak": peak * 1024, "bytes": size}))


def main() -> None:
    """Run each kind in turns, or with `--heap` one process alone."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--scale", type=float, default=0.3)
    parser.add_argument("--files", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3, help="within a process; the first one does not count")
    parser.add_argument("--heap", help="measure this heap alone, once")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--only-make", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.work.mkdir(parents=True, exist_ok=True)
    if given.child:
        one(given)
        return

    def child(*more: str) -> str:
        command = [sys.executable, __file__, *sys.argv[1:], "--child", *more]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        return done.stdout.splitlines()[-1] if done.stdout else ""

    # Made with a large heap, which is not what is measured.
    child("--kind", "2 cores, heap 6 GB", "--only-make")
    names = [f"heap {given.heap}"] if given.heap else list(KINDS)
    found: dict[str, list[dict[str, list[float]]]] = {name: [] for name in names}
    for r in range(1 if given.heap else given.rounds):
        for name in names[:: -1 if r % 2 else 1]:
            found[name].append(json.loads(child() if given.heap else child("--kind", name)))
            print(name, found[name][-1], flush=True)
    size = next(iter(found.values()))[0]["bytes"]
    lines = [
        f"## TPC-H's wide table, scale {given.scale:g}: {size / 1e6:.0f} MB, into about {given.files} files",
        "",
        "One run of one process."
        if given.heap
        else f"{given.rounds} processes each, in turns, of {given.runs} runs. The first run does not count.",
        "",
        "| | seconds | most memory of the process |",
        "|---|---|---|",
    ]
    for name, runs in found.items():
        times = [s for run in runs for s in (run["seconds"][1:] or run["seconds"])]
        spread = f"{statistics.median(times):.1f} ({min(times):.1f} to {max(times):.1f})"
        lines.append(f"| {name} | {spread} | {max(run['peak'] for run in runs) / 1e9:.1f} GB |")
    today = datetime.datetime.now(datetime.timezone.utc).date()
    page = given.out / f"tuning-{today}.md"
    before = page.read_text() if page.exists() else f"# Settings for OPTIMIZE, {today}\n"
    page.write_text(before + "\n" + "\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
