"""Counts the files that recorded queries touch after `ZORDER BY AUTO` and after equal weights: `make bench-auto`.

A recording session plans the queries, OPTIMIZE rewrites the table, and the footers of its files are read. Writes
bench/results/auto-<date>.md.
"""

from __future__ import annotations

import argparse
import datetime
import random
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import footers
import numpy as np
import pyarrow.parquet as pq
import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
KEYS = ("a", "b", "c")
SPAN = 1_000_000
SEED = 7

# A query: for each of its columns, the least and the greatest value it asks for.
Query = dict[str, tuple[int, int]]


def hot(draw: random.Random) -> Query:
    """One value of a random column. Nine times out of ten it is in the upper tenth of the values."""
    value = draw.randrange(SPAN * 9 // 10, SPAN) if draw.random() < 0.9 else draw.randrange(SPAN)
    return {draw.choice(KEYS): (value, value)}


def everywhere(draw: random.Random) -> Query:
    """One value of a random column."""
    value = draw.randrange(SPAN)
    return {draw.choice(KEYS): (value, value)}


def mixed(draw: random.Random) -> Query:
    """Seven of ten ask for a value of `a`, two for a value of `b` in a tenth of `a`, one for a hundredth of `c`."""
    kind, value, low = draw.random(), draw.randrange(SPAN), draw.randrange(SPAN * 9 // 10)
    if kind < 0.7:
        return {"a": (value, value)}
    if kind < 0.9:
        return {"b": (value, value), "a": (low, low + SPAN // 10)}
    return {"c": (low, low + SPAN // 100)}


NAMES = {
    hot: "one value of a, b or c, nine of ten from its upper tenth",
    everywhere: "one value of a, b or c, from everywhere",
    mixed: "7 of 10 one value of a, 2 of 10 one of b and a tenth of a, 1 of 10 a hundredth of c",
}


@dataclass(frozen=True)
class Case:
    """A layout, the queries that are recorded for it, and the queries that measure it."""

    layout: str
    told: Callable[[random.Random], Query]
    asked: tuple[Callable[[random.Random], Query], ...]
    options: str = ""


CASES = (
    Case("ZORDER BY (a, b, c)", hot, (hot, everywhere)),
    Case("ZORDER BY AUTO", hot, (hot, everywhere)),
    Case("ZORDER BY AUTO", hot, (hot, everywhere), ", 'hot-ranges' = 'true'"),
    Case("ZORDER BY (a, b, c)", mixed, (mixed,)),
    Case("ZORDER BY AUTO", mixed, (mixed,)),
)


def predicate(query: Query) -> str:
    """The condition in SQL."""
    return " AND ".join(f"{k} = {x}" if x == y else f"{k} BETWEEN {x} AND {y}" for k, (x, y) in query.items())


class Bounds:
    """The least and the greatest value of each column in each file of a table, from the footers."""

    def __init__(self, folder: Path) -> None:
        metas = [pq.read_metadata(p) for p in footers.live(folder)]
        self.files = len(metas)
        self.rows = sum(meta.num_rows for meta in metas)
        self.low, self.high = {}, {}
        for key in KEYS:
            at = metas[0].schema.to_arrow_schema().get_field_index(key)
            chunks = [[m.row_group(g).column(at).statistics for g in range(m.num_row_groups)] for m in metas]
            self.low[key] = np.array([min(c.min for c in of) for of in chunks])
            self.high[key] = np.array([max(c.max for c in of) for of in chunks])

    def touched(self, query: Query) -> int:
        """The number of files that may hold a row of the answer."""
        files = np.ones(self.files, bool)
        for key, (low, high) in query.items():
            files &= (self.low[key] <= high) & (self.high[key] >= low)
        return int(files.sum())


def measure(spark: SparkSession, case: Case, given: argparse.Namespace, source: Path, folder: Path) -> list[str]:
    """Record, optimize and measure. Returns rows of the results page."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`").collect()
    draw = random.Random(SEED)
    for _ in range(given.queries):
        frame = spark.sql(f"SELECT * FROM parquet.`{folder}` WHERE {predicate(case.told(draw))}")
        # Planning is enough to record a query. Running it on a table without a layout would only take time.
        frame._jdf.queryExecution().optimizedPlan()
    options = f"OPTIONS ('num-files' = '{given.files}'{case.options})"
    begin = time.perf_counter()
    [row] = spark.sql(f"OPTIMIZE parquet.`{folder}` {case.layout} {options}").collect()
    seconds = time.perf_counter() - begin
    bounds = Bounds(folder)
    if bounds.rows != given.rows:
        raise AssertionError(f"{bounds.rows} rows of {given.rows}")
    auto = row["metrics"]["auto"]
    layout = case.layout + (", hot ranges" if case.options else "")
    page = []
    for asked in case.asked:
        draw = random.Random(SEED + 1)
        counts = [bounds.touched(asked(draw)) for _ in range(10 * given.queries)]
        mean = sum(counts) / len(counts) * given.files / bounds.files
        estimated = f"{100 * auto['touchedShare']:.1f} %" if auto and asked is case.told else ""
        page.append(
            f"| {NAMES[asked]} | {layout} | {auto['layout'] if auto else ''} | {bounds.files} | {estimated} "
            f"| **{mean:.1f}** | {seconds:.0f} |"
        )
        print(page[-1], flush=True)
    shutil.rmtree(folder)
    return page


HEAD = """# ZORDER BY AUTO, {date}

The files that a query touches, from the footers of the files that `OPTIMIZE` wrote, scaled to {files} files. The table
has {rows:,} rows and three independent columns of numbers. AUTO chose its layout by {queries} recorded queries of the
kind whose row has an estimate. {asked:,} other queries measured it.

- `estimated`: the share of the files that AUTO predicts. It cuts a sample into 400 files. With more files, the share is
  smaller.
- `s`: the seconds of the whole `OPTIMIZE`, with other work on the machine's two cores.
- The hot ranges repeat a simulation with 1000 files. Without `hot-ranges`, a query touches 104 files. With it, a query
  of the hot ranges touches 45 files, and a query for any value touches 127.

| queries | layout | chosen | files | estimated | **touched** | s |
|---|---|---|---|---|---|---|"""


def main() -> None:
    """Run all cases."""
    parser = argparse.ArgumentParser(description="Files that recorded queries touch after ZORDER BY AUTO.")
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=400_000)
    parser.add_argument("--files", type=int, default=1000)
    parser.add_argument("--queries", type=int, default=600)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "auto")
    given = parser.parse_args()
    spark = session.start(given.jar, "2g", {"spark.zorder.workload.enabled": "true"})
    given.work.mkdir(parents=True, exist_ok=True)
    source = given.work / "source"
    columns = [f"pmod(xxhash64(id, {n}), {SPAN}) AS {key}" for n, key in enumerate(KEYS)]
    spark.range(0, given.rows, 1, 8).selectExpr(*columns).write.mode("overwrite").parquet(str(source))
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    head = HEAD.format(date=date, files=given.files, rows=given.rows, queries=given.queries, asked=10 * given.queries)
    page = [head]
    for n, case in enumerate(CASES):
        page += measure(spark, case, given, source, given.work / f"table{n}")
    spark.stop()
    (ROOT / "bench" / "results" / f"auto-{date}.md").write_text("\n".join([*page, ""]))


if __name__ == "__main__":
    main()
