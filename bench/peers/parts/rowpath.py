"""Measures each step of Spark's row-based path in OPTIMIZE, and whether alternatives would pay."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from peers import wide
from peers.engines import Ours
from peers.parts.optimize import FILES
from peers.progress import Steps
from peers.results import Figure, Part
from peers.sessions import seconds, settle, start

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from peers.sessions import Setting

LOOKUPS = 15
WHOLE = "OPTIMIZE: all that, and written"
# Nearly all values of these columns are distinct. The writer gives up their dictionaries after the first page.
UNLIKE = ("l_orderkey", "l_extendedprice", "l_comment", "o_totalprice", "o_comment")
VARIANTS: dict[str, dict[str, str]] = {
    "ours": {},
    "no dictionaries of columns with few equal values": {f"parquet.enable.dictionary#{c}": "false" for c in UNLIKE},
    "no dictionaries": {"parquet.enable.dictionary": "false"},
    "pages of 2000 rows": {"parquet.page.row.count.limit": "2000"},
    "pages without checksums": {"parquet.page.write-checksum.enabled": "false"},
}


def run(setting: Setting) -> Part:
    """Run the steps on a fifth of the data. Each step includes those before it."""
    spark = start(setting)
    scale = setting.scale / 5
    source = wide.make(spark, scale, setting.work, setting.tpchgen)
    files = FILES // 5
    tables = {name: _table(spark, source, setting.work / f"rowpath-{i}", files) for i, name in enumerate(VARIANTS)}
    steps = dict(_steps(spark, source, files))
    bar = Steps((setting.rounds + 1) * (len(steps) + len(VARIANTS)) + len(wide.KEYS))
    cumulative: dict[str, list[float]] = {name: [] for name in steps}
    whole: dict[str, list[float]] = {name: [] for name in VARIANTS}
    for r in range(setting.rounds + 1):
        kept = r > 0
        for name, step in steps.items():
            bar.next(name)
            settle(spark)
            took = seconds(step)
            cumulative[name] += [took] * kept
        names = list(VARIANTS)
        for name in names[r % len(names) :] + names[: r % len(names)]:
            bar.next(f"OPTIMIZE, {name}")
            took = _optimized(spark, tables[name], VARIANTS[name])
            whole[name] += [took] * kept
    sizes = {n: [sum(p.stat().st_size for p in t.folder.glob("*.parquet")) / 1e6] for n, t in tables.items()}
    looked = _looked(spark, source, {n: t.folder for n, t in tables.items()}, bar)
    spark.stop()
    part = Part("rowpath", "The path by rows, and other settings of the writer")
    part.settings = {"data": f"the wide table at scale {scale:g}, {files} files", "steps": "each with those before it"}
    cumulative[WHOLE] = whole["ours"]
    figure = Figure("steps", "s", cumulative, compared=False)
    begin, end = figure.median("columns decoded"), figure.median("sorted")
    copied, groups = _whole(source, tables["ours"].folder)
    part.where = [
        f"decoded columns become sorted rows in {end - begin:.1f} of {figure.median(WHOLE):.1f} s: "
        "another shuffle cannot save more than that",
        f"{copied} of {groups} row groups are within the bounds of one new file, and could be copied as they are",
    ]
    part.figures = [
        figure,
        Figure("OPTIMIZE", "s", whole),
        Figure("files written", "MB", sizes),
        *(Figure(f"lookup by {key}", "ms", times) for key, times in looked.items()),
    ]
    return part


def _whole(source: Path, written: Path) -> tuple[int, int]:
    """The number of row groups of the source that are within the bounds of one new file, and of all row groups."""
    import pyarrow.parquet as pq

    def boxes(folder: Path) -> Iterator[list[list[tuple[int, int]]]]:
        for file in folder.glob("*.parquet"):
            meta = pq.read_metadata(file)
            at = [meta.schema.to_arrow_schema().get_field_index(key) for key in wide.KEYS]
            stats = [[meta.row_group(g).column(c).statistics for c in at] for g in range(meta.num_row_groups)]
            yield [[(s.min, s.max) for s in group] for group in stats]

    groups = [group for file in boxes(source) for group in file]
    files = [
        [(min(low for low, _ in column), max(high for _, high in column)) for column in zip(*file, strict=True)]
        for file in boxes(written)
    ]
    inside = [
        any(all(lo <= low and high <= hi for (low, high), (lo, hi) in zip(g, f, strict=True)) for f in files)
        for g in groups
    ]
    return sum(inside), len(groups)


def _table(spark: SparkSession, source: Path, work: Path, files: int) -> Ours:
    work.mkdir(exist_ok=True)
    return Ours(spark, source, work, wide.KEYS, files)


def _steps(spark: SparkSession, source: Path, files: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """A hash replaces the position on the curve here. It costs less."""

    def scan() -> DataFrame:
        return spark.read.parquet(str(source))

    def rows(frame: DataFrame) -> int:
        execution: Any = frame._jdf
        return int(execution.queryExecution().toRdd().count())

    def columns() -> int:
        plan: Any = scan()._jdf
        return int(plan.queryExecution().executedPlan().collectLeaves().head().executeColumnar().count())

    def shuffled() -> DataFrame:
        return scan().repartition(files, *wide.KEYS)

    yield "columns decoded", columns
    yield "made rows", lambda: rows(scan())
    yield "shuffled", lambda: rows(shuffled())
    yield "sorted", lambda: rows(shuffled().sortWithinPartitions(wide.KEYS[0]))


def _optimized(spark: SparkSession, table: Ours, settings: Mapping[str, str]) -> float:
    table.prepare()
    settle(spark)
    for key, value in settings.items():
        spark.conf.set(key, value)
    took = seconds(table.optimize)
    for key in settings:
        spark.conf.unset(key)
    return took


def _looked(
    spark: SparkSession, source: Path, folders: Mapping[str, Path], bar: Steps
) -> dict[str, dict[str, list[float]]]:
    views = {name: f"rowpath_{i}" for i, name in enumerate(folders)}
    for name, view in views.items():
        spark.read.parquet(str(folders[name])).createOrReplaceTempView(view)
    generator = random.Random(13)
    looked: dict[str, dict[str, list[float]]] = {}
    names = list(views)
    for key in wide.KEYS:
        bar.next(f"lookups by {key}")
        drawn = [row[0] for row in spark.read.parquet(str(source)).select(key).sample(1e-3, 5).collect()]
        times: dict[str, list[float]] = {name: [] for name in names}
        for n in range(2 * LOOKUPS):
            value = generator.choice(drawn)
            for name in names[n % len(names) :] + names[: n % len(names)]:
                sql = f"SELECT count(*), sum(l_extendedprice) FROM {views[name]} WHERE {key} = {value}"
                took = seconds(spark.sql(sql).collect)
                # The first half of the queries warms up.
                times[name] += [took * 1e3] * (n >= LOOKUPS)
        looked[key] = times
    return looked
