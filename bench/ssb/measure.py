"""Lays the tables out, asks the queries in turns, and notes the files that each reads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from peers import plans
from peers.engines import Delta, Engine, Ours
from peers.parts.optimize import in_turns
from peers.results import Figure, Part
from peers.sessions import settle, start

from ssb import data
from ssb.contestants import OURS, Contestant, contestants, dimensions, without_extensions
from ssb.data import FLAT, STAR
from ssb.layouts import KEYS, OWN_KEYS, Joined, Own
from ssb.queries import QUERIES
from ssb.totals import BYTES, FILES, JOINS, TIME, UNITS, WHOLE

if TYPE_CHECKING:
    from pathlib import Path

    from peers.progress import Steps
    from peers.sessions import Place
    from pyspark.sql import SparkSession

WARM_UP = 1
METRICS = {FILES: "numFiles", BYTES: "filesSize", JOINS: "skippingLeftOutByJoins"}


def steps(rounds: int) -> int:
    """The number of steps that `run` takes."""
    return 1 + rounds * 5 + (rounds + WARM_UP) * len(QUERIES)


def run(place: Place, scale: float, files: int, rounds: int, joined: bool, steps: Steps) -> Part:
    """Measure all. A figure's name is that of the query, and what was measured of it.

    Args:
        place: where the session runs
        scale: of the benchmark
        files: how many files of the large tables to ask for
        rounds: how often each statement and each query is measured
        joined: false clusters our star without `JOIN`, for versions that lack it
        steps: told of each step
    """
    # Delta has statistics of the first 32 columns only, if nobody says otherwise.
    spark = start(place, spark_databricks_delta_properties_defaults_dataSkippingNumIndexedCols="-1")
    steps.next("the tables")
    work = place.work / f"{scale:g}-{files}"
    source = made(spark, scale, files, work / "tables")
    layouts = _layouts(spark, source, work, files, joined)
    ours = layouts[STAR][0]
    assert isinstance(ours, Ours)
    part = Part("ssb", f"The Star Schema Benchmark, scale {scale:g}")
    part.settings = {
        "rows": ", ".join(f"{table} {count:,}" for table, count in data.rows(scale).items()),
        "files": f"{files} asked for",
        "our star": ours.layout(),
        "Delta's star, and our star without joins": f"ZORDER BY ({', '.join(OWN_KEYS)})",
        "the flattened tables": f"ZORDER BY ({', '.join(KEYS)})",
        "runs": f"{rounds} rounds; local[{place.cores}], heap {place.heap}",
    }
    for table, engines in layouts.items():
        found = in_turns(spark, engines, rounds, steps)
        part.figures.append(Figure(f"OPTIMIZE of {table}", "s", found.times))
    asked = contestants(spark, without_extensions(spark), source, work)
    for contestant in asked:
        contestant.register()
    part.figures += [*_whole(asked), *_asked(asked, rounds, steps)]
    spark.stop()
    return part


def made(spark: SparkSession, scale: float, files: int, folder: Path) -> Path:
    """Write the star and the flattened table as plain files, in the order of row numbers."""
    star = data.tables(spark, scale, files)
    for table, rows in {**star, FLAT: data.flattened(star)}.items():
        if not (folder / table / "_SUCCESS").exists():
            rows.write.mode("overwrite").parquet(str(folder / table))
    return folder


def _layouts(spark: SparkSession, source: Path, work: Path, files: int, joined: bool) -> dict[str, list[Engine]]:
    """The engines that cluster each large table, ours first. `Joined` reads the dimensions by their names."""
    Contestant(OURS, spark, "parquet", dimensions(source)).register()
    star, keys = (Joined, KEYS) if joined else (Ours, OWN_KEYS)
    own = Own(spark, source / STAR, work, OWN_KEYS, files)
    return {
        STAR: [star(spark, source / STAR, work, keys, files), own, Delta(spark, source / STAR, work, OWN_KEYS, files)],
        FLAT: [engine(spark, source / FLAT, work, KEYS, files) for engine in (Ours, Delta)],
    }


def _whole(asked: list[Contestant]) -> list[Figure]:
    """The files and bytes of a query that has to read the whole table."""
    found = {c.name: _ask(c, f"SELECT sum(lo_revenue + lo_tax) FROM {c.table}")[1] for c in asked}
    assert all(measured[FILES] > 0 for measured in found.values()), found
    return [
        Figure(f"{WHOLE}, {what}", UNITS[what], {name: [measured[what]] for name, measured in found.items()})
        for what in (FILES, BYTES)
    ]


def _asked(asked: list[Contestant], rounds: int, steps: Steps) -> list[Figure]:
    """Ask each query of all contestants in turns, in another order each round. Their answers must agree."""
    figures = {
        (query, what): Figure(f"{query.name}, {what}", unit, {contestant.name: [] for contestant in asked})
        for query in QUERIES
        for what, unit in UNITS.items()
    }
    for n in range(rounds + WARM_UP):
        at = n % len(asked)
        for query in QUERIES:
            steps.next(f"{query.name}, to warm up" if n < WARM_UP else f"{query.name}, round {n}")
            settle(asked[0].session)
            answers = set()
            for contestant in [*asked[at:], *asked[:at]]:
                answer, measured = _ask(contestant, contestant.text(query))
                answers.add(answer)
                for what in UNITS if n >= WARM_UP else ():
                    figures[query, what].values[contestant.name].append(measured[what])
            assert len(answers) == 1, (query.name, answers)
    return list(figures.values())


def _ask(contestant: Contestant, text: str) -> tuple[str, dict[str, float]]:
    """The rows of a query in an order of their own, its time, and what it read of the large table."""
    begin = time.perf_counter()
    frame = contestant.session.sql(text)
    rows = frame.collect()
    took = (time.perf_counter() - begin) * 1e3
    scans = [node for node in plans.nodes(plans.final(frame)) if node.nodeName().endswith(f".{contestant.table}")]
    # If a dimension has no row left, Spark may leave out the rest of the plan.
    assert len(scans) <= 1, scans
    measured = {what: float(sum(plans.metric(scan, name) for scan in scans)) for what, name in METRICS.items()}
    return "\n".join(sorted(map(str, rows))), {**measured, TIME: took}
