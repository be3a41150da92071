"""Counts what a reader without the extension sees while OPTIMIZE and RESTORE exchange files on a local disk.

One process lists a folder and reads its files with pyarrow, again and again. It may see rows twice, or find that a
listed file is gone. It must never miss a row. Writes bench/results/plain-reader-<date>.md.
"""

from __future__ import annotations

import argparse
import datetime
import multiprocessing
import shutil
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq
import session

if TYPE_CHECKING:
    from multiprocessing.sharedctypes import Synchronized

    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
FILES = 240
ROWS = 24_000
PARTITIONS = {"one folder": 1, "12 partitions": 12}

Seen = Counter[tuple[str, bool]]
"""How often each outcome came, apart for looks beside an operation."""

WHOLE, TWICE, GONE, MISSING = "each row once", "rows twice", "a listed file was gone", "rows missing"


def state(folder: Path) -> tuple[str, ...]:
    """The records and markers of the table. While this stays the same, no file is exchanged."""
    sides = [folder / "_zorder", *folder.glob("p=*/_zorder")]
    # A side folder that is empty is removed.
    names = (path.name for side in sides for path in side.glob("*"))
    return tuple(sorted(name for name in names if name.startswith(("_exchange-", "_v"))))


def look(folder: Path) -> str:
    """List the folder as a program does that knows nothing of us, and read all files."""
    try:
        files = [path for path in sorted(folder.rglob("*.parquet")) if "/_" not in str(path.relative_to(folder.parent))]
        ids = np.concatenate(
            [pq.read_table(path, columns=["id"], partitioning=None)["id"].to_numpy() for path in files]
        )
    except FileNotFoundError:
        return GONE
    if len(np.unique(ids)) < ROWS:
        return MISSING
    return WHOLE if len(ids) == ROWS else TWICE


def read(folder: Path, ended: Synchronized[int], found: multiprocessing.Queue[Seen]) -> None:
    """Look until the statements have ended."""
    seen: Seen = Counter()
    while not ended.value:
        before = state(folder)
        outcome = look(folder)
        seen[outcome, before != state(folder) or any(name.startswith("_exchange-") for name in before)] += 1
    found.put(seen)


def exchange(spark: SparkSession, folder: Path, seconds: float) -> int:
    """OPTIMIZE and RESTORE in turns. Returns how often files were exchanged."""
    until, done = time.monotonic() + seconds, 0
    while time.monotonic() < until:
        spark.sql(f"OPTIMIZE parquet.`{folder}` FULL ZORDER BY (a, b) OPTIONS ('num-files' = '24')").collect()
        spark.sql(f"RESTORE parquet.`{folder}` TO VERSION AS OF {done}").collect()
        done += 2
    return done


def measure(spark: SparkSession, folder: Path, partitions: int, seconds: float) -> tuple[int, Seen]:
    """Run the statements beside a reader."""
    shutil.rmtree(folder, ignore_errors=True)
    frame = spark.sql(f"SELECT id, hash(id, 1) a, hash(id, 2) b, id % {partitions} p FROM range({ROWS})")
    if partitions > 1:
        frame.repartition(FILES // partitions).write.partitionBy("p").parquet(str(folder))
    else:
        frame.drop("p").repartition(FILES).write.parquet(str(folder))
    context = multiprocessing.get_context("spawn")
    ended, found = context.Value("i", 0), context.Queue()
    reader = context.Process(target=read, args=(folder, ended, found))
    reader.start()
    try:
        done = exchange(spark, folder, seconds)
    finally:
        ended.value = 1
    seen = found.get(timeout=60)
    reader.join()
    return done, seen


def main() -> None:
    """Measure both kinds of table, and fail if a row was missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=150)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "plain-reader")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    asked = parser.parse_args()
    asked.work.mkdir(parents=True, exist_ok=True)
    spark = session.start(asked.jar, "2g")
    lines = [
        "# A reader without the extension",
        "",
        f"pyarrow lists and reads {FILES} files with {ROWS:,} rows, again and again, on a local disk. Beside it",
        f"OPTIMIZE and RESTORE exchange all of them, {asked.seconds:.0f} seconds for each table.",
        "",
        f"| table | exchanges | looks | beside an operation | {TWICE} | {GONE} | {MISSING} |",
        "|---|---|---|---|---|---|---|",
    ]
    missing = 0
    for name, partitions in PARTITIONS.items():
        done, seen = measure(spark, asked.work / "t", partitions, asked.seconds)
        of = {outcome: sum(n for (o, _), n in seen.items() if o == outcome) for outcome in (TWICE, GONE, MISSING)}
        during = sum(n for (_, is_during), n in seen.items() if is_during)
        missing += of[MISSING]
        lines.append(f"| {name} | {done} | {seen.total()} | {during} | {of[TWICE]} | {of[GONE]} | {of[MISSING]} |")
        print(lines[-1], flush=True)
    spark.stop()
    shutil.rmtree(asked.work)
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    (asked.out / f"plain-reader-{today}.md").write_text("\n".join(lines) + "\n")
    if missing:
        raise SystemExit(f"rows were missing in {missing} looks")


if __name__ == "__main__":
    main()
