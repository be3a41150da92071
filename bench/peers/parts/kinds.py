"""Runs OPTIMIZE on other kinds of tables beside Spark's own rewrite: mostly texts, nested columns, and ORC."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

from peers.engines import Ours, Plain
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import alone, seconds, settle

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

    from peers.sessions import Setting

SMALL_FILES = 32
FILES = 24
KEYS = ("a", "b")
_KEYS = "id, CAST(hash(id, 1) AS INT) a, CAST(hash(id, 2) % 100000 AS INT) b"
_TEXTS = """
    sha1(CAST(id AS STRING)) t0, concat('https://example.org/', hash(id, 3) % 5000, '/', hash(id, 4) % 300) t1,
    concat_ws(' ', hash(id, 5) % 900, hash(id, 6) % 900, hash(id, 7) % 900, hash(id, 8) % 900) t2,
    concat('customer-', pmod(hash(id, 9), 20000)) t3, substring('AEIOU', 1 + pmod(hash(id, 10), 5), 1) t4,
    hex(hash(id, 11)) t5, concat('Grüße aus ', pmod(hash(id, 12), 700)) t6,
    base64(CAST(sha1(CAST(id AS STRING)) AS BINARY)) t7
"""
_NESTED = """
    named_struct('x', id % 7, 'y', named_struct('z', hash(id, 3), 'w', CAST(pmod(hash(id, 4), 100) AS STRING))) s,
    transform(sequence(1, 1 + CAST(pmod(hash(id, 5), 6) AS INT)), i -> hash(id, i)) l,
    transform(sequence(1, 1 + CAST(pmod(hash(id, 6), 4) AS INT)), i -> named_struct('k', i, 'v', hash(id, i, 1))) ls,
    map('a', hash(id, 7), CAST(pmod(hash(id, 8), 50) AS STRING), hash(id, 9)) m
"""
_FLAT = """
    CAST(hash(id, 3) % 50 AS DECIMAL(9, 2)) price, CAST(hash(id, 4) AS DECIMAL(20, 3)) wide, hash(id, 5) / 7.0D d,
    DATE '2020-01-01' + CAST(pmod(hash(id, 6), 2000) AS INT) day, timestamp_seconds(1600000000 + id) at,
    concat('customer-', pmod(hash(id, 7), 20000)) name, id % 2 = 0 even
"""
KINDS = {
    "texts": ("parquet", _TEXTS, 2_000_000),
    "nested": ("parquet", _NESTED, 1_500_000),
    "ORC": ("orc", _FLAT, 4_000_000),
}


class OurFormat(Ours):
    """`OPTIMIZE` on files of a format."""

    format = "parquet"

    def optimize(self) -> int:
        """Use the default settings, except for the number of files."""
        [row] = self.spark.sql(
            f"OPTIMIZE {self.format}.`{self.folder}` {self.layout()} OPTIONS ('num-files' = '{self.files}')"
        ).collect()
        return int(row.metrics.numFilesAdded)


class PlainFormat(Plain):
    """Ranges and a sort, on files of a format."""

    format = "parquet"

    def optimize(self) -> int:
        """Sort by the keys one after the other."""
        rows = self.spark.read.format(self.format).load(str(self.source))
        sorted_rows = rows.repartitionByRange(self.files, *self.keys).sortWithinPartitions(*self.keys)
        sorted_rows.write.format(self.format).save(str(self.folder))
        return len(list(self.folder.glob(f"*.{self.format}")))


def run(setting: Setting) -> Part:
    """Measure each kind in turns, after a round that does not count."""
    spark = alone(setting)
    part = Part("kinds", "OPTIMIZE of other kinds of tables")
    steps = Steps(len(KINDS) * 2 * (setting.rounds + 1))
    for kind, (form, columns, rows) in KINDS.items():
        source = _source(spark, setting.work / f"kind-{kind}", form, columns, rows)
        engines: list[OurFormat | PlainFormat] = [
            of(spark, source, setting.work, KEYS, FILES) for of in (OurFormat, PlainFormat)
        ]
        times: dict[str, list[float]] = {e.name: [] for e in engines}
        sizes: dict[str, str] = {}
        for r in range(setting.rounds + 1):
            for engine in engines[:: -1 if r % 2 else 1]:
                engine.format = form
                steps.next(f"{kind} by {engine.name}, round {r}")
                engine.prepare()
                settle(spark)
                took = seconds(engine.optimize)
                if r > 0:
                    times[engine.name].append(took)
                written = list(engine.folder.glob(f"*.{form}"))
                sizes[engine.name] = f"{len(written)} files, {sum(p.stat().st_size for p in written) / 1e6:.1f} MB"
                if engine is engines[0]:
                    engines[1].files = len(written)
        figure = Figure(f"{kind}, {rows:,} rows", "s", times)
        part.figures.append(figure)
        part.settings[kind] = "; ".join(f"{name} wrote {size}" for name, size in sizes.items())
        part.checks.append(Check(f"OPTIMIZE of {kind}, of spark's time", figure.ratio("ours", "spark"), 1.0))
    part.settings["session"] = f"local[{setting.cores}], heap {setting.heap}, our extension alone"
    part.settings["Spark's own"] = (
        "repartitionByRange(files that ours wrote, a, b) + sortWithinPartitions(a, b) + write"
    )
    spark.stop()
    return part


def _source(spark: SparkSession, folder: Path, form: str, columns: str, rows: int) -> Path:
    if not (folder / "_SUCCESS").exists():
        shutil.rmtree(folder, ignore_errors=True)
        made = spark.sql(f"SELECT {_KEYS}, {columns} FROM range({rows})").repartition(SMALL_FILES)
        made.write.format(form).save(str(folder))
    return folder
