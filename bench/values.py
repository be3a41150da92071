"""Looks up unique texts in 1,000 files whose bounds say nothing of them.

Compares the bounds of the index, the values that it keeps (`VALUES`), and the Bloom filters that Parquet's own writer
puts into each file. Writes bench/results/values-<date>.md.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import statistics
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import session

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
FILES = 1000
LOOKUPS = 30
TEXT = "sha2(CAST(xxhash64(id) AS STRING), 256)"
"""A unique text of 64 letters for each row. Rows are in the order of the ids, so texts are scattered."""


@dataclass(frozen=True)
class Found:
    """What lookups cost.

    Attributes:
        index: Bytes of the index.
        building: Seconds of CREATE SKIPPING INDEX.
        files: The files that each lookup opened.
        seconds: The time of each lookup.
    """

    index: int
    building: float
    files: Sequence[int]
    seconds: Sequence[float]

    def line(self, name: str) -> str:
        """A row of the table."""
        times = f"{statistics.median(self.seconds) * 1e3:,.0f} ({min(self.seconds) * 1e3:,.0f}"
        return (
            f"| {name} | {statistics.mean(self.files):,.1f} | {max(self.files):,} | {self.index / 1e6:.1f} "
            f"| {self.building:.1f} | {times} to {max(self.seconds) * 1e3:,.0f}) |"
        )


def opened(frame: Any) -> int:
    """The files that the scan of a query has read, by Spark's own metric."""
    plan = frame._jdf.queryExecution().executedPlan()
    leaves = plan.collectLeaves()
    metrics = (leaves.apply(i).metrics() for i in range(leaves.size()))
    return sum(m.apply("numFiles").value() for m in metrics if m.contains("numFiles"))


def look_up(spark: SparkSession, folder: Path, ids: Sequence[int], columns: str | None) -> Found:
    """Index the files, and look up the texts of some rows one by one."""
    table = f"parquet.`{folder}`"
    began = time.monotonic()
    if columns is not None:
        spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON {table} {columns}").collect()
    building = time.monotonic() - began
    texts = [spark.sql(f"SELECT {TEXT} t FROM VALUES ({n}L) AS v(id)").head().t for n in ids]
    files, seconds = [], []
    for n, text in zip(ids, texts, strict=True):
        began = time.monotonic()
        frame = spark.sql(f"SELECT id FROM {table} WHERE t = '{text}'")
        [row] = frame.collect()
        seconds.append(time.monotonic() - began)
        assert row.id == n, (row.id, n)
        files.append(opened(frame))
    side = folder / "_zorder"
    newest = max(side.glob("_index-*"), default=None) if side.exists() else None
    return Found(newest.stat().st_size if newest else 0, building, files[5:], seconds[5:])


def main() -> None:
    """Run each kind of index."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "values")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    asked = parser.parse_args()
    shutil.rmtree(asked.work, ignore_errors=True)
    spark = session.start(asked.jar, "3g")
    frame = spark.range(0, asked.rows, 1, FILES).selectExpr("id", f"{TEXT} AS t", "hash(id, 1) AS n")
    plain, filtered = asked.work / "plain", asked.work / "filtered"
    frame.write.parquet(str(plain))
    own = {
        "parquet.bloom.filter.enabled#t": "true",
        "parquet.bloom.filter.expected.ndv#t": str(asked.rows // FILES),
        "parquet.bloom.filter.fpp#t": "0.01",
    }
    frame.write.options(**own).parquet(str(filtered))
    ids = [(i * 7_919_993 + 13) % asked.rows for i in range(LOOKUPS + 5)]
    found = {
        "nothing": look_up(spark, plain, ids, None),
        "Parquet's own Bloom filters": look_up(spark, filtered, ids, None),
        "bounds": look_up(spark, plain, ids, ""),
        "bounds and values": look_up(spark, plain, ids, "(*, t VALUES)"),
    }
    bytes_of = {
        name: sum(p.stat().st_size for p in of.glob("*.parquet")) for name, of in (("plain", plain), ("own", filtered))
    }
    spark.stop()
    shutil.rmtree(asked.work)
    lines = [
        "# Lookups of unique texts",
        "",
        f"{asked.rows:,} rows in {FILES:,} files of {bytes_of['plain'] / 1e6:,.0f} MB, each row with a text of 64",
        f"letters of its own, scattered over all files. {LOOKUPS} lookups one after the other, after 5 to warm up.",
        "Spark opens each file whose row groups Parquet's own filters rule out. These filters took",
        f"{(bytes_of['own'] - bytes_of['plain']) / 1e6:,.1f} MB of the files.",
        "",
        "| what is known | files opened, mean | most | MB of index | seconds to build | ms, median (extremes) |",
        "|---|---|---|---|---|---|",
        *(of.line(name) for name, of in found.items()),
    ]
    today = datetime.datetime.now(tz=datetime.timezone.utc).date()
    (asked.out / f"values-{today}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
