"""Measures a table of a thousand files with three columns of strings, the shape in the project's specification."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from peers.engines import ENGINES
from peers.parts.optimize import in_turns
from peers.parts.queries import WARM_UP, asked
from peers.progress import Steps
from peers.results import Figure, Part
from peers.sessions import start

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from peers.sessions import Setting

FILES = 1000
ROWS = 6_000_000
# The prefix, the digits and the number of values of each column.
KEYS = {"s_city": ("CITY", 5, 5025), "c_city": ("CITY", 5, 5025), "p_brand": ("MFGR#", 7, 884_686)}


def run(setting: Setting) -> Part:
    """Run OPTIMIZE and lookups, as for the wide table."""
    log = setting.work / "events"
    spark = start(setting, log)
    rows = round(ROWS * setting.scale)
    source = make(spark, rows, setting.work)
    keys = list(KEYS)
    engines = [e(spark, source, setting.work, keys, FILES) for e in ENGINES]
    kinds = _queries(setting.queries + WARM_UP)
    steps = Steps(setting.rounds * len(engines) + sum(len(conditions) for _, conditions in kinds))
    found = in_turns(spark, engines, setting.rounds, steps)
    views = {engine.name: engine.view() for engine in engines if engine.name != "spark"}
    looked = asked(spark, views, kinds, "revenue", steps)
    spark.conf.set("spark.zorder.skipping.enabled", "true")
    kept = []
    for kind, conditions in kinds:
        [scan] = spark.sql(f"EXPLAIN SKIPPING SELECT * FROM {views['ours']} WHERE {conditions[-1]}").collect()
        kept.append(f"{kind}: {scan.files_kept} of {scan.files_total} files, pruning {scan.pruning_ms:.1f} ms")
    spark.stop()
    part = Part("thousand", f"A thousand files, {rows:,} rows")
    part.figures = [Figure(f"OPTIMIZE, {FILES} files", "s", found.times), *looked]
    part.settings = {
        "data": ", ".join(f"{k} of {distinct:,} values" for k, (_, _, distinct) in KEYS.items())
        + f"; {engines[0].size / 1e6:.0f} MB in 64 files, rows at random",
        "files written": found.files(),
        "query": "SELECT count(*), sum(revenue) FROM t WHERE ..",
    }
    part.where = [*kept, *found.stages(log)]
    return part


def make(spark: SparkSession, rows: int, work: Path) -> Path:
    """Write the rows at random in 64 plain Parquet files."""
    table = work / f"thousand-{rows}"
    if not (table / "_SUCCESS").exists():
        keys = [
            f"concat('{prefix}', lpad(CAST(pmod(xxhash64(id, {n}), {distinct}) AS STRING), {digits}, '0')) AS {key}"
            for n, (key, (prefix, digits, distinct)) in enumerate(KEYS.items())
        ]
        others = [
            "id AS orderkey",
            "CAST(pmod(xxhash64(id, 11), 10000000) AS DECIMAL(12, 2)) AS revenue",
            "CAST(pmod(xxhash64(id, 12), 50) AS INT) AS quantity",
            "date_add(DATE'1992-01-01', CAST(pmod(xxhash64(id, 13), 2500) AS INT)) AS orderdate",
        ]
        spark.range(0, rows, 1, 64).selectExpr(*keys, *others).write.mode("overwrite").parquet(str(table))
    return table


def _queries(count: int) -> list[tuple[str, list[str]]]:
    generator = random.Random(17)

    def equal(key: str) -> str:
        prefix, digits, distinct = KEYS[key]
        return f"{key} = '{prefix}{generator.randrange(distinct):0{digits}d}'"

    keys = list(KEYS)
    points = [(f"point, {key}", [equal(key) for _ in range(count)]) for key in keys]
    both = [f"{equal(keys[n % 3])} AND {equal(keys[(n + 1) % 3])}" for n in range(count)]
    return [*points, ("two columns", both)]
