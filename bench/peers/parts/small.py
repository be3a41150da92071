"""Runs OPTIMIZE on a small table, whose time is mostly fixed, beside Spark's own read and write. All is warm."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from peers import wide
from peers.engines import Ours, Plain
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import alone, seconds, settle

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from peers.sessions import Setting

FILES = 16
SCALE = 0.006
# The first ones compile code.
WARM = 10
LIMIT = 1.3


class Default(Ours):
    """OPTIMIZE as users of small tables run it: it writes as few files as its default says, which is one."""

    name = "default"

    def optimize(self) -> int:
        """Give no options."""
        [row] = self.spark.sql(f"OPTIMIZE parquet.`{self.folder}` {self.layout()}").collect()
        return int(row.metrics.numFilesAdded)


class Copy(Plain):
    """Spark reads the files and writes them again, in as many tasks as files."""

    name = "copy"

    def optimize(self) -> int:
        """Write them as they come."""
        rows = self.spark.read.parquet(str(self.source))
        rows.write.parquet(str(self.folder))
        return len(list(self.folder.glob("*.parquet")))


def run(setting: Setting) -> Part:
    """Measure on TPC-H's wide table."""
    spark = alone(setting)
    source = _source(spark, setting)
    engines = [e(spark, source, setting.work, wide.KEYS, FILES) for e in (Ours, Default, Plain, Copy)]
    rounds = 5 * setting.rounds
    times: dict[str, list[float]] = {e.name: [] for e in engines}
    written: dict[str, int] = {}
    steps = Steps((WARM + rounds) * len(engines))
    for r in range(WARM + rounds):
        at = r % len(engines)
        for engine in [*engines[at:], *engines[:at]]:
            steps.next(f"a small table by {engine.name}, round {r + 1}")
            engine.prepare()
            settle(spark)

            def once(of: Ours | Plain = engine) -> None:
                written[of.name] = of.optimize()

            took = seconds(once)
            if r >= WARM:
                times[engine.name].append(took)
    rows = spark.read.parquet(str(source)).count()
    spark.stop()
    figure = Figure(f"a table of {FILES} files", "s", times)
    part = Part("small", "OPTIMIZE of a small table", figures=[figure])
    part.settings = {
        "data": f"{rows:,} rows of TPC-H's wide table, {engines[0].size / 1e6:.1f} MB in {FILES} files",
        "files written": ", ".join(f"{name} {n}" for name, n in written.items()),
        "session": f"local[{setting.cores}], heap {setting.heap}, our extension alone",
        "rounds": f"{rounds} in turns, after {WARM} that do not count",
        "default": "OPTIMIZE without options, which makes one file of a table of this size",
        "copy": "Spark reads the files and writes them, without a shuffle",
        "spark": "repartitionByRange(files, keys) + sortWithinPartitions(keys) + write",
    }
    part.checks = [
        Check(f"OPTIMIZE ({name}), of the time of {beside}", figure.ratio(name, beside), LIMIT)
        for name, beside in (("ours", "spark"), ("ours", "copy"), ("default", "copy"))
    ]
    return part


def _source(spark: SparkSession, setting: Setting) -> Path:
    made = setting.work / "small"
    if not (made / "_SUCCESS").exists():
        shutil.rmtree(made, ignore_errors=True)
        whole = wide.make(spark, SCALE, setting.work, setting.tpchgen)
        spark.read.parquet(str(whole)).repartition(FILES).write.parquet(str(made))
    return made
