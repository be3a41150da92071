"""Counts the files that queries touch after OPTIMIZE, by curve, number of columns and kind of data.

`make bench-layout` runs it.

All figures come from the footers of the files that OPTIMIZE wrote. Writes bench/results/layout-<date>.md and .json.
"""

from __future__ import annotations

import argparse
import datetime
import json
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import footers
import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

ROOT = Path(__file__).resolve().parent.parent
ALL = (("ZORDER", "aligned"), ("HILBERT", "aligned"), ("ZORDER", "equal"), ("HILBERT", "equal"))
ALIGNED = ALL[:2]
QUERIES = 300
MOST_OFF = 0.1
SEED = 7


@dataclass(frozen=True)
class Data:
    """A table, and the layouts to measure."""

    name: str
    keys: tuple[str, ...]
    files: int
    make: Callable[[SparkSession], DataFrame]
    layouts: tuple[tuple[str, str], ...] = ALIGNED
    weights: tuple[float, ...] = ()

    def by(self) -> str:
        """The columns with their weights, for the clause BY."""
        if not self.weights:
            return ", ".join(self.keys)
        return ", ".join(f"{k} WEIGHT {w:g}" for k, w in zip(self.keys, self.weights, strict=True))

    def shares(self) -> list[float]:
        """Each column's share of all lookups."""
        weights = self.weights or (1,) * len(self.keys)
        return [w / sum(weights) for w in weights]

    def bound(self, files: int) -> float:
        """The least possible mean number of files, for independent columns with many values."""
        product = 1.0
        for share in self.shares():
            product *= share
        return len(self.keys) * files * float(product / files) ** (1 / len(self.keys))


def uniform(key: str, distinct: int, n: int) -> str:
    """A column with this number of equally frequent values, independent of other columns."""
    return f"pmod(xxhash64(id, {n}), {distinct}) AS {key}"


def zipf(key: str, distinct: int, n: int) -> str:
    """A column whose k-th most frequent value has about 1/k of the rows of the first. The values have no order."""
    u = f"(pmod(xxhash64(id, {n}), 1000000007) + 0.5) / 1000000007"
    return f"pmod(xxhash64(CAST(pow({distinct}, {u}) AS BIGINT)), 1000000) AS {key}"


def text(key: str, prefix: str, width: int, distinct: int, n: int) -> str:
    """A column of strings with a common prefix."""
    return f"concat('{prefix}', lpad(CAST(pmod(xxhash64(id, {n}), {distinct}) AS STRING), {width}, '0')) AS {key}"


def of_range(count: int, *columns: str) -> Callable[[SparkSession], DataFrame]:
    """A table of this number of rows with these columns."""
    return lambda spark: spark.range(0, count, 1, 8).selectExpr(*columns)


def tpch(generator: Path, work: Path, scale: float, count: int) -> Callable[[SparkSession], DataFrame]:
    """The keys of TPC-H's wide table, for a sample of about this number of rows."""

    def make(spark: SparkSession) -> DataFrame:
        source = work / f"tpch-{scale:g}"
        if not source.exists():
            tables = ["parquet", "-s", f"{scale:g}", "--tables", "lineitem,orders", "--output-dir", str(source)]
            subprocess.run([str(generator), *tables], check=True, capture_output=True)
        lines = spark.read.parquet(str(source / "lineitem.parquet"))
        orders = spark.read.parquet(str(source / "orders.parquet"))
        wide = lines.join(orders, lines.l_orderkey == orders.o_orderkey)
        share = min(1.0, count / (6_001_215 * scale))
        drawn = wide.where(f"pmod(xxhash64(l_orderkey, l_linenumber), 1000000) < {share * 1e6:.0f}")
        return drawn.select("l_suppkey", "o_custkey", "l_partkey").repartition(8)

    return make


def tables(count: int, wide: Callable[[SparkSession], DataFrame]) -> list[Data]:
    """All tables. The main ones have `count` rows, the others a fifth of them."""
    brand = (
        text("s_city", "CITY", 5, 5025, 1),
        text("c_city", "CITY", 5, 5025, 2),
        text("p_brand", "MFGR#", 7, 884686, 3),
    )
    three = (uniform("a", 5025, 1), uniform("b", 5025, 2), uniform("c", 884686, 3))
    many = [uniform(k, 5025, n) for n, k in enumerate("abcdef")]
    correlated = (
        "pmod(xxhash64(id, 1), 100000) AS a",
        "pmod(xxhash64(id, 1), 100000) + pmod(xxhash64(id, 2), 20000) AS b",
        uniform("c", 884686, 3),
    )
    url = "https://www.example.com/catalogue/products/by-category/item-"
    urls = (text("a", url, 9, 5025, 1), text("b", url, 9, 5025, 2), text("c", url, 9, 884686, 3))
    skewed = (zipf("a", 5025, 1), zipf("b", 5025, 2), zipf("c", 884686, 3))
    flags = (uniform("flag", 2, 1), uniform("region", 11, 2), uniform("c", 884686, 3))
    abc, keys = ("a", "b", "c"), ("l_suppkey", "o_custkey", "l_partkey")
    less = count // 5
    return [
        Data("source document's shape", ("s_city", "c_city", "p_brand"), 1000, of_range(count, *brand), ALL),
        Data("TPC-H, wide", keys, 100, wide, ALL),
        Data("TPC-H, wide", keys, 1000, wide, ALL),
        Data("weights 0.8, 0.1, 0.1", abc, 1000, of_range(count, *three), ALIGNED, (8, 1, 1)),
        Data("zipf", abc, 200, of_range(less, *skewed)),
        Data("correlated", abc, 200, of_range(less, *correlated)),
        Data("a flag, 11 regions, many values", ("flag", "region", "c"), 200, of_range(less, *flags)),
        Data("URLs with a long common prefix", abc, 200, of_range(less, *urls)),
        *(Data(f"{n} columns", tuple("abcdef"[:n]), 200, of_range(less, *many[:n])) for n in (2, 4, 5, 6)),
    ]


def measure(spark: SparkSession, data: Data, curve: str, cuts: str, source: Path, folder: Path) -> dict[str, Any]:
    """Optimize a copy of the table and measure its files."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(source, folder)
    options = f"'num-files' = '{data.files}', 'cuts' = '{cuts}'"
    statement = f"OPTIMIZE parquet.`{folder}` {curve} BY ({data.by()}) OPTIONS ({options})"
    begin = time.perf_counter()
    foreseen = spark.sql(f"{statement} DRY RUN").collect()[0].metrics
    dry = time.perf_counter()
    spark.sql(statement).collect()
    seconds = time.perf_counter() - dry
    table = footers.read(folder, data.keys)
    files = len(table.sizes)
    scale = data.files / files
    columns = table.columns.values()
    points = {k: c.point() for k, c in table.columns.items()}
    mean = sum(p * s for p, s in zip(points.values(), data.shares(), strict=True))
    predicted = {c.column: c.meanFilesAfter for c in foreseen.clustering}
    target = sum(table.sizes) / data.files
    return {
        "data": data.name,
        "rows": sum(table.sizes),
        "asked": data.files,
        "files": files,
        "curve": curve,
        "cuts": cuts,
        "seconds": seconds,
        "dry_run_seconds": dry - begin,
        "predicted_files": foreseen.numFilesAdded,
        "predicted": {k: predicted[k] * scale for k in points},
        "predicted_off": max(abs(predicted[k] / p - 1) for k, p in points.items()),
        "point": {k: p * scale for k, p in points.items()},
        "mean": mean * scale,
        "of_bound": mean / data.bound(files),
        "range_1": sum(c.of_range(0.01, QUERIES, SEED) for c in columns) / len(points) * scale,
        "range_10": sum(c.of_range(0.1, QUERIES, SEED) for c in columns) / len(points) * scale,
        "conjunction": table.conjunction(QUERIES, SEED) * scale,
        "rows_of_target": [min(table.sizes) / target, max(table.sizes) / target],
        "outside": sum(s < 0.5 * target or s > 1.5 * target for s in table.sizes) / files,
    }


COLUMNS = (
    "data",
    "layout",
    "files of",
    "point lookup on each column",
    "mean",
    "predicted",
    "of bound",
    "range 1 %",
    "10 %",
    "two columns",
    "rows a file",
    "outside",
)
HEAD = f"""# Files touched, {{date}}

All figures come from the footers of the files that `OPTIMIZE` wrote. Files touched are scaled to the requested number
of files: files touched, times files requested, divided by files written.

- `mean`: the mean of all columns. With weights, it is the weighted mean.
- `predicted`: how far the files touched that `DRY RUN` predicts are from these, for the worst column. The number of
  files was predicted exactly unless it says otherwise.
- `of bound`: the mean divided by the least possible mean. For F files and D equally important columns that is
  F^(1-1/D). It holds for independent columns with many values: others can be below it.
- `two columns`: a query for a random row's values of two columns.
- `outside`: the share of files with less than 0.5 or more than 1.5 times the requested rows.
- The tables of 1000 files have {{rows:,}} rows.

| {" | ".join(COLUMNS)} |
|{"---|" * len(COLUMNS)}"""


def prediction(r: dict[str, Any]) -> str:
    """How far the prediction is off."""
    files = "" if r["predicted_files"] == r["files"] else f", {r['predicted_files']} files"
    return f"{100 * r['predicted_off']:.1f} %{files}"


def line(r: dict[str, Any]) -> str:
    """Format a result as a row of the page."""
    points = " / ".join(f"{v:.1f}" for v in r["point"].values())
    low, high = r["rows_of_target"]
    return (
        f"| {r['data']} | {r['curve'].capitalize()}, {r['cuts']} | {r['files']} of {r['asked']} | {points} "
        f"| **{r['mean']:.1f}** | {prediction(r)} | {r['of_bound']:.2f} | {r['range_1']:.0f} | {r['range_10']:.0f} "
        f"| {r['conjunction']:.1f} | {low:.2f} to {high:.2f} | {100 * r['outside']:.1f} % |"
    )


def missed(results: list[dict[str, Any]]) -> list[str]:
    """The missed targets, as sentences."""
    found = []
    for r in results:
        name = f"{r['data']}, {r['curve']}, {r['asked']} files"
        if r["predicted_off"] > MOST_OFF:
            found.append(f"{name}: prediction off by {r['predicted_off']:.3g}, at most {MOST_OFF}")
        if r["cuts"] != "aligned":
            continue
        if r["data"].startswith("weights"):
            limits = {"ratio to the bound": (r["of_bound"], 1.05)}
        elif r["data"].startswith(("source", "TPC-H")):
            limits = {"ratio to the bound": (r["of_bound"], 1.06)}
            if r["asked"] == 1000:
                limits["mean"] = (r["mean"], 106)
                limits["worst column"] = (max(r["point"].values()), 130 if r["curve"] == "ZORDER" else 110)
        else:
            limits = {}
        limits["difference from the requested number of files"] = (abs(r["files"] - r["asked"]) / r["asked"], 0.25)
        limits["files of another size"] = (r["outside"], 0.02)
        found += [f"{name}: {what} {is_:.3g}, at most {most}" for what, (is_, most) in limits.items() if is_ > most]
    return found


def main() -> None:
    """Run all tables, or only some of them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--tpchgen", type=Path, default=Path(sys.executable).with_name("tpchgen-cli"))
    parser.add_argument("--only", default="", help="only tables with this text in their name")
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--scale", type=float, default=1, help="the scale of TPC-H")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "layout")
    given = parser.parse_args()
    spark = session.start(given.jar, "3g")
    given.work.mkdir(parents=True, exist_ok=True)
    wide = tpch(given.tpchgen, given.work, given.scale, given.rows)
    results = []
    source = given.work / "source"
    for data in tables(given.rows, wide):
        if given.only not in data.name:
            continue
        data.make(spark).write.mode("overwrite").parquet(str(source))
        for curve, cuts in data.layouts:
            results.append(measure(spark, data, curve, cuts, source, given.work / "table"))
            print(line(results[-1]), f"{results[-1]['seconds']:.0f} s", flush=True)
    spark.stop()
    for sentence in missed(results):
        print(f"MISSED: {sentence}")
    if not given.only:
        date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
        target = ROOT / "bench" / "results" / f"layout-{date}"
        target.with_suffix(".json").write_text(json.dumps(results, indent=2) + "\n")
        page = [HEAD.format(date=date, rows=given.rows), *map(line, results)]
        target.with_suffix(".md").write_text("\n".join([*page, ""]))
    sys.exit(1 if missed(results) else 0)


if __name__ == "__main__":
    main()
