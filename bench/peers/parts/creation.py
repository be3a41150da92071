"""Indexes many small files of another writer. Compares with a query that reads them for the same values."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from peers import events
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import seconds, settle, start

if TYPE_CHECKING:
    from pathlib import Path

    from peers.sessions import Setting

ROWS = 1000
LIMIT = 0.25
NUMBERS = ("a", "b", "c", "d")


def run(setting: Setting) -> Part:
    """Run both in turns. Each lists the files itself."""
    log = setting.work / "events"
    folder = setting.work / f"small-{setting.small_files}"
    steps = Steps(1 + 2 * setting.rounds)
    steps.next(f"{setting.small_files:,} files")
    if not (folder / "_SUCCESS").exists():
        _make(folder, setting.small_files)
    spark = start(setting, log)
    spark.conf.set("spark.sql.parquet.mergeSchema", "false")
    columns = [*NUMBERS, "name"]
    asked = ", ".join(f"min({c}), max({c}), count({c})" for c in columns)

    def ours() -> None:
        spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON parquet.`{folder}`").collect()

    def by_reading() -> None:
        spark.read.parquet(str(folder)).createOrReplaceTempView("small")
        found = spark.sql(f"SELECT input_file_name(), count(*), {asked} FROM small GROUP BY 1").collect()
        assert len(found) == setting.small_files

    times: dict[str, list[float]] = {"ours": [], "spark.read .. agg": []}
    work = dict(zip(times, (ours, by_reading), strict=True))
    windows: dict[str, tuple[float, float]] = {}
    for r in range(setting.rounds):
        for name in sorted(times, reverse=r % 2 == 1):
            steps.next(f"{name}, round {r + 1}")
            settle(spark)
            import time

            began = time.time()
            times[name].append(seconds(work[name]))
            windows[name] = (began, time.time())
    known = spark.sql(f"DESCRIBE SKIPPING INDEX ON parquet.`{folder}`").where("status = 'indexed'").count()
    assert known == setting.small_files * len(columns), known
    spark.stop()
    figure = Figure(f"statistics of {setting.small_files:,} files", "s", times)
    part = Part("creation", f"Index of {setting.small_files:,} small files", figures=[figure])
    part.settings = {
        "files": f"Parquet, {ROWS} rows of four BIGINT and a string each, in one folder",
        "Spark's": "spark.read.parquet(..), GROUP BY input_file_name(), min, max and count of each column, collected",
        "session": f"local[{setting.cores}], heap {setting.heap}",
    }
    part.checks = [Check("index creation, of Spark's reading", figure.ratio(*times), LIMIT)]
    found = events.stages(log)
    for name, (began, ended) in windows.items():
        part.where += [f"{name}, last round, {line}" for line in events.told(found, began, ended)]
    return part


def _make(folder: Path, count: int) -> None:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder.mkdir(parents=True, exist_ok=True)

    def one(i: int) -> None:
        generator = np.random.default_rng(i)
        numbers = {c: generator.integers(0, 1 << 40, ROWS) for c in NUMBERS}
        names = pa.array([f"name-{v:012d}" for v in generator.integers(0, 1 << 30, ROWS)])
        pq.write_table(pa.table({**numbers, "name": names}), folder / f"part-{i:06d}.snappy.parquet")

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(one, range(count)))
    (folder / "_SUCCESS").touch()
