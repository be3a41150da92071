"""Measures what reading new files back costs: its share of the task time of OPTIMIZE.

The task time is the statement's time on all cores, so the share is never too large. Writes
bench/results/read-back-<date>.md.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING

import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
FILES = 16
ROUNDS = 3
KINDS = {
    "ORC": ("orc", {}),
    "Parquet": ("parquet", {}),
    "Parquet, pages of version 2": (
        "parquet",
        {"parquet.writer.version": "PARQUET_2_0"},
    ),
}
COLUMNS = """
    id, CAST(hash(id, 1) AS INT) a, CAST(hash(id, 2) % 1000 AS INT) b, CAST(hash(id, 3) % 50 AS DECIMAL(9, 2)) price,
    DATE '2020-01-01' + CAST(pmod(hash(id, 4), 2000) AS INT) day, concat('customer-', pmod(hash(id, 5), 20000)) name,
    timestamp_seconds(1600000000 + id) at, sha1(CAST(pmod(id, 100000) AS STRING)) text,
    named_struct('x', id % 7, 'y', array(id % 3, id % 5)) s
"""


def share(spark: SparkSession, folder: Path, kind: str, options: dict[str, str], rows: int) -> tuple[float, float]:
    """The seconds of an OPTIMIZE, and the share of its task time that went into reading back."""
    shutil.rmtree(folder, ignore_errors=True)
    frame = spark.sql(f"SELECT {COLUMNS} FROM range({rows})").repartition(FILES)
    frame.write.format(kind).options(**options).save(str(folder))
    began = time.monotonic()
    spark.sql(f"OPTIMIZE {kind}.`{folder}` ZORDER BY (a, b) OPTIONS ('num-files' = '{FILES}')").collect()
    seconds = time.monotonic() - began
    metrics = spark.sql(f"DESCRIBE HISTORY {kind}.`{folder}`").head().operationMetrics
    assert int(metrics["numReadBackFiles"]) == FILES, metrics
    cores = spark.sparkContext.defaultParallelism
    return seconds, int(metrics["readBackMillis"]) / 1000 / (seconds * cores)


def main() -> None:
    """Run each kind some times, in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "read-back")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    spark = session.start(asked.jar, "3g")
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in KINDS}
    for _ in range(ROUNDS):
        for name, (kind, options) in KINDS.items():
            found[name].append(share(spark, asked.work / kind, kind, options, asked.rows))
            print(name, found[name][-1], flush=True)
    spark.stop()
    shutil.rmtree(asked.work)
    lines = [
        "# Reading back",
        "",
        f"{asked.rows:,} rows of nine columns in {FILES} files, {ROUNDS} times each, in turns.",
        "",
        "| Files | seconds of OPTIMIZE | share of its task time for reading back |",
        "|---|---|---|",
    ]
    for name, runs in found.items():
        seconds, shares = zip(*runs, strict=True)
        lines.append(
            f"| {name} | {statistics.median(seconds):.1f} ({min(seconds):.1f} to {max(seconds):.1f}) "
            f"| {statistics.median(shares):.1%} ({min(shares):.1%} to {max(shares):.1%}) |"
        )
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    (asked.out / f"read-back-{today}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
