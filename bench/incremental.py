"""Compares OPTIMIZE without FULL with a full rewrite of the same table, round by round.

Ten times, it adds 5 % new rows spread over all values. Before and after these rounds it adds 0.1 %. After each round
it optimizes the table, and a copy of it with FULL. All figures come from the footers of the files. Writes
bench/results/incremental-<date>.md and .json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import footers
import pyarrow.parquet as pq
import session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
SHARE = 0.05
FEW = 0.001


def rows_of(folder: Path) -> dict[str, int]:
    """The number of rows of each data file."""
    return {p.name: pq.read_metadata(p).num_rows for p in footers.live(folder)}


class Rounds:
    """One table with this number of keys, and its copy."""

    def __init__(self, spark: SparkSession, work: Path, columns: int, files: int, rows: int) -> None:
        self.spark, self.keys, self.rows = spark, "abcdef"[:columns], 0
        self.folder, self.copy = work / "table", work / "copy"
        shutil.rmtree(self.folder, ignore_errors=True)
        self.add(rows)
        size = sum(p.stat().st_size for p in footers.live(self.folder))
        self.options = f"OPTIONS ('target-file-size-bytes' = '{size // files}')"
        self.optimize(self.folder, "FULL")

    def add(self, count: int) -> None:
        """Add this number of rows, in four files."""
        keys = [f"pmod(xxhash64(id, {n}), 1000000) AS {k}" for n, k in enumerate(self.keys)]
        new = self.spark.range(self.rows, self.rows + count, 1, 4).selectExpr("id", *keys)
        new.write.mode("append").parquet(str(self.folder))
        self.rows += count

    def optimize(self, folder: Path, full: str = "") -> Any:
        """The metrics of an OPTIMIZE."""
        by = ", ".join(self.keys)
        [row] = self.spark.sql(f"OPTIMIZE parquet.`{folder}` {full} ZORDER BY ({by}) {self.options}").collect()
        return row["metrics"]

    def mean(self, folder: Path) -> float:
        """Files per point lookup, the mean of all keys."""
        columns = footers.read(folder, list(self.keys)).columns.values()
        return sum(c.point() for c in columns) / len(columns)

    def round(self, number: int, share: float) -> dict[str, Any]:
        """Add rows, optimize and measure both tables."""
        self.add(round(self.rows * share / (1 - share)))
        shutil.rmtree(self.copy, ignore_errors=True)
        shutil.copytree(self.folder, self.copy, ignore=shutil.ignore_patterns("_zorder"))
        before = rows_of(self.folder)
        begin = time.perf_counter()
        metrics = self.optimize(self.folder)
        seconds = time.perf_counter() - begin
        begin = time.perf_counter()
        full = self.optimize(self.copy, "FULL")
        full_seconds = time.perf_counter() - begin
        after = rows_of(self.folder)
        if sum(after.values()) != self.rows:
            raise AssertionError(f"{sum(after.values())} rows of {self.rows}")
        means = self.mean(self.folder), self.mean(self.copy)
        return {
            "columns": len(self.keys),
            "round": number,
            "new": share,
            "rows": self.rows,
            "strategy": metrics["strategy"]["name"],
            "reason": metrics["strategy"]["reason"],
            "drift": metrics["strategy"]["drift"],
            "files": len(after),
            "files_full": full["numFilesAdded"],
            "rows_written": sum(n for name, n in after.items() if name not in before) / self.rows,
            "bytes_written": metrics["filesAdded"]["totalSize"] / full["filesAdded"]["totalSize"],
            "lookup": means[0],
            "lookup_full": means[1],
            "ratio": means[0] / means[1],
            "seconds": seconds,
            "seconds_full": full_seconds,
        }


HEAD = """# OPTIMIZE without FULL, {date}

Each round adds rows of independent uniform keys. Then it optimizes the table without `FULL`, and a copy of it with
`FULL`. Rows and bytes written are shares of those of the full rewrite. Files per lookup is the mean of all keys: how
many files may hold the value of a random row, from the footers. The table starts with {rows:,} rows in {files} files.

| keys | round | new | rows written | bytes written | files per lookup | after FULL | ratio | files | s | s, FULL |
|---|---|---|---|---|---|---|---|---|---|---|"""


def line(r: dict[str, Any]) -> str:
    """Format a round as a row of the page."""
    return (
        f"| {r['columns']} | {r['round']} | {100 * r['new']:.1f} % "
        f"| {100 * r['rows_written']:.1f} % | {100 * r['bytes_written']:.1f} % "
        f"| {r['lookup']:.1f} | {r['lookup_full']:.1f} | **{r['ratio']:.3f}** | {r['files']} of {r['files_full']} "
        f"| {r['seconds']:.1f} | {r['seconds_full']:.1f} |"
    )


def worst(results: list[dict[str, Any]]) -> list[str]:
    """The greatest values of all rounds, for each number of keys."""
    sentences = []
    for n in dict.fromkeys(r["columns"] for r in results):
        own = [r for r in results if r["columns"] == n and r["new"] == SHARE]
        rows, written, ratio = (max(r[k] for r in own) for k in ("rows_written", "bytes_written", "ratio"))
        mean = sum(r["ratio"] for r in own) / len(own)
        sentences.append(
            f"- {n} keys, {100 * SHARE:.0f} % new: it writes at most {100 * rows:.1f} % of the rows and "
            f"{100 * written:.1f} % of the bytes of a full rewrite (the target is 15 %). A lookup touches at most "
            f"{ratio:.2f} times the files, and {mean:.2f} times in the mean of the rounds (the target is 1.15)."
        )
    return sentences


def main() -> None:
    """Run all rounds."""
    parser = argparse.ArgumentParser(description="What OPTIMIZE without FULL writes and leaves.")
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--files", type=int, default=400)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--columns", type=int, nargs="+", default=[3, 4, 2])
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "incremental")
    given = parser.parse_args()
    spark = session.start(given.jar, "2g")
    given.work.mkdir(parents=True, exist_ok=True)
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    target = ROOT / "bench" / "results" / f"incremental-{date}"
    results: list[dict[str, Any]] = []
    for columns in given.columns:
        table = Rounds(spark, given.work, columns, given.files, given.rows)
        for number in range(given.rounds + 2):
            results.append(table.round(number, FEW if number in (0, given.rounds + 1) else SHARE))
            print(line(results[-1]), results[-1]["reason"], flush=True)
        head = HEAD.format(date=date, rows=given.rows, files=given.files)
        target.with_suffix(".json").write_text(json.dumps(results, indent=2) + "\n")
        page = [head, *map(line, results), "", *worst(results), ""]
        target.with_suffix(".md").write_text("\n".join(page))
    spark.stop()
    print("\n".join(worst(results)))


if __name__ == "__main__":
    main()
