"""Measures the cost of safety: the window of publishing, and planning behind a long history."""

from __future__ import annotations

import json
import os
import shutil
import statistics
import threading
import time
import uuid
from functools import partial
from typing import TYPE_CHECKING, Any

from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import alone, seconds, settle

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from peers.sessions import Setting

# Partitions of the table, and small files in each.
WINDOWS = ((300, 10), (3000, 1))
ROWS_OF_FILE = 20
OPERATIONS = 20_000
QUERIES = 60
MORE_MS = 2.0
DAY_MS = 86_400_000


def run(setting: Setting) -> Part:
    """Measure the window for two shapes of a table, then planning."""
    part = Part("safety", "The price of safety")
    steps = Steps(2 * len(WINDOWS) + 1)
    spark = alone(setting)
    for partitions, files in WINDOWS:
        _window(spark, setting.work / "safety", partitions, files, part, steps)
    _history(spark, setting.work / "safety", part, steps)
    spark.stop()
    return part


def _window(spark: SparkSession, work: Path, partitions: int, files: int, part: Part, steps: Steps) -> None:
    """Optimize twice from the same files. The second time, a thread lists the table again and again."""
    made = _small_files(work / f"small-{partitions}-{files}", partitions, files)
    folder = work / "window"
    name = f"{partitions} partitions of {files} files"
    lengths: list[float] = []
    fewest: list[float] = []
    for watched in (False, True):
        steps.next(f"{name}{', watched' if watched else ''}")
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(made, folder)
        watcher = _Watcher(folder)
        if watched:
            watcher.start()
        settle(spark)
        spark.sql(f"OPTIMIZE parquet.`{folder}` ZORDER BY (k)").collect()
        [row] = spark.sql(f"DESCRIBE HISTORY parquet.`{folder}`").collect()
        lengths.append(float(row.operationMetrics["publishMillis"]))
        if watched:
            fewest, seen = watcher.end()
            part.where.append(f"{name}: {seen} listings found rows missing")
    part.figures += [
        Figure(f"publishing of {name}", "ms", {"alone": lengths[:1], "watched": lengths[1:]}, compared=False),
        Figure(f"rows visible at the low, {name}", "%", {"ours": fewest}, compared=False),
    ]
    shutil.rmtree(folder)


def _small_files(folder: Path, partitions: int, files: int) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if folder.exists():
        return folder
    begun = folder.with_name(f"{folder.name}-begun")
    shutil.rmtree(begun, ignore_errors=True)
    for p in range(partitions):
        (begun / f"p={p}").mkdir(parents=True)
        for f in range(files):
            first = (p * files + f) * ROWS_OF_FILE
            rows = pa.table({"k": [i * 7919 % 1009 for i in range(first, first + ROWS_OF_FILE)]})
            pq.write_table(rows, begun / f"p={p}" / f"part-{f:05d}.parquet")
    begun.rename(folder)
    return folder


class _Watcher(threading.Thread):
    """Lists a table again and again as a reader without the extension does, until it is told to stop."""

    def __init__(self, folder: Path) -> None:
        super().__init__(daemon=True)
        self.folder = folder
        self.before = frozenset(self._listed())
        self.samples: list[frozenset[str]] = []
        self.ended = threading.Event()

    def _listed(self) -> list[str]:
        found = []
        for partition in os.scandir(self.folder):
            if partition.name[0] not in "_.":
                found += [f.path for f in os.scandir(partition.path) if f.name[0] not in "_."]
        return found

    def run(self) -> None:
        """List until the end. Keep a listing only if it differs from the one before."""
        while not self.ended.is_set():
            now = frozenset(self._listed())
            if now != self.before and (not self.samples or now != self.samples[-1]):
                self.samples.append(now)
            time.sleep(0.001)

    def end(self) -> tuple[list[float], int]:
        """The fewest rows that a listing showed, in per cent of all, and how many listings lacked rows."""
        import pyarrow.parquet as pq

        self.ended.set()
        self.join()
        rows = dict.fromkeys(self.before, ROWS_OF_FILE)
        for path in self._listed():
            rows[path] = pq.read_metadata(path).num_rows
        whole = len(self.before) * ROWS_OF_FILE
        # A file name that is neither an old nor a new one must not be visible to any reader.
        seen = [sum(rows[path] for path in sample) for sample in self.samples]
        return [100 * min([whole, *seen]) / whole], sum(n < whole for n in seen)


def _history(spark: SparkSession, work: Path, part: Part, steps: Steps) -> None:
    """Plan each query on two equal tables, one behind a few operations and one behind many, in turns."""
    tables = {"one": work / "history-one", "many": work / "history-many"}
    steps.next(f"planning behind {OPERATIONS:,} operations")
    idle: dict[str, list[float]] = {}
    for name, folder in tables.items():
        shutil.rmtree(folder, ignore_errors=True)
        spark.range(100_000).selectExpr("id % 1000 AS k", "id AS v").repartition(20).write.parquet(str(folder))
        optimize = f"OPTIMIZE parquet.`{folder}`"
        options = "OPTIONS ('num-files' = '20')"
        spark.sql(f"{optimize} ZORDER BY (k) {options}").collect()
        if name == "many":
            _lengthen(folder / "_zorder", OPERATIONS)
            spark.sql(f"{optimize} FULL ZORDER BY (k) {options}").collect()
            # It makes lines of the older records.
            spark.sql(f"VACUUM parquet.`{folder}` RETAIN 0 HOURS").collect()
        again = f"{optimize} ZORDER BY (k) {options}"
        idle[name] = [seconds(partial(spark.sql, again)) for _ in range(3)]
        spark.read.parquet(str(folder)).createOrReplaceTempView(name)
    times: dict[str, list[float]] = {name: [] for name in tables}
    for n in range(2 * QUERIES):
        for name in tables if n % 2 == 0 else reversed(tables):
            begin = time.perf_counter()
            frame: Any = spark.sql(f"SELECT count(*), sum(v) FROM {name} WHERE k = {n}")._jdf
            frame.queryExecution().executedPlan()
            # The first half of the queries warms up.
            times[name] += [(time.perf_counter() - begin) * 1e3] * (n >= QUERIES)
    behind = {"one": "one operation", "many": f"{OPERATIONS:,}"}
    part.figures += [
        Figure("planning behind a history", "ms", {behind[n]: t for n, t in times.items()}),
        Figure("OPTIMIZE with nothing to do behind a history", "s", {behind[n]: t for n, t in idle.items()}),
    ]
    more = statistics.median(b - a for a, b in zip(times["one"], times["many"], strict=True))
    part.checks.append(Check(f"planning behind {OPERATIONS:,} operations: more, median of pairs, ms", more, MORE_MS))
    part.settings["history"] = f"{QUERIES} queries each; records of {OPERATIONS:,} operations in the last 20 days"


def _lengthen(side: Path, operations: int) -> None:
    """Write further records. In each, an operation replaced the file of the operation before."""
    [first] = side.glob("_v*.json")
    record = json.loads(first.read_text())
    # The checksum covers the bytes before it. It may be missing.
    record.pop("crc")
    shown = len(first.name.split("-")[0])
    now = record["timestamp"]
    file = {"length": 1000, "modificationTime": now, "rows": 10}
    outputs = [{"path": "part-0.parquet", **file}]
    for version in range(2, operations + 1):
        inputs, outputs = outputs, [{"path": f"part-{version}.parquet", **file}]
        record.update(
            version=version,
            operationId=str(uuid.uuid4()),
            timestamp=now - 20 * DAY_MS * (operations - version) // operations,
            inputs=inputs,
            outputs=outputs,
        )
        (side / f"_v{version:0{shown - 2}d}-5ms.json").write_text(json.dumps(record))
