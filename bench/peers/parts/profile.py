"""Shows how the processor spends its time during OPTIMIZE and during lookups."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from peers import samples, wide
from peers.engines import Ours
from peers.parts.optimize import FILES
from peers.progress import Steps
from peers.results import Figure, Part
from peers.sessions import settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from peers.sessions import Setting

LOOKUPS = 60

# The innermost frame of a stack that is named here decides. Frames of a task's writer are below all its work.
READ = (
    ("checking dictionaries for matching row groups", ("DictionaryFilter",)),
    ("footers", ("ParquetMetadataConverter", "ParquetFooterReader")),
    ("copying Hadoop's settings for each file", ("mapred.JobConf", "conf.Configuration")),
    ("decoding of Parquet", ("Vectorized", "WritableColumnVector", "ParquetDictionary", "PlainValuesDictionary")),
    ("other opening and reading of Parquet", ("ParquetFileReader", "ParquetFileFormat")),
)
OPTIMIZE = (
    ("encoding Parquet: dictionaries", ("DictionaryValuesWriter",)),
    ("encoding Parquet: all else", ("org.apache.parquet.hadoop.InternalParquet", "org.apache.parquet.column")),
    ("encoding Parquet: compression", ("BytesCompressor", "SnappyCompressor")),
    ("turning rows into columns", ("ParquetWriteSupport",)),
    ("collecting statistics of the written rows", ("org.sparkzorder.stats",)),
    ("computing positions on the curve", ("org.sparkzorder.layout", "CurveValue", "SlotKey", "RowPlan", "UnitLayout")),
    ("sorting", ("UnsafeExternal", "UnsafeInMemorySorter", "RadixSort", "TimSort")),
    ("files of the shuffle", ("lz4", "LZ4", "DiskBlockObjectWriter", "ShuffleBlockFetcher", "UnsafeRowSerializer")),
    *READ,
    ("making rows from columns", ("GeneratedIterator", "UnsafeRow", "UnsafeWriter", "SpecificUnsafeProjection")),
    ("other shuffle work", ("ShuffleWriter",)),
)
LOOKUP = (*READ, ("making rows and adding them up", ("GeneratedIterator", "GeneratedClass")))


def run(setting: Setting) -> Part:
    """Optimize a table of a fifth of the scale, after one warm-up run. Lookups query the table of `optimize`."""
    spark = samples.session(setting)
    small = wide.make(spark, setting.scale / 5, setting.work, setting.tpchgen)
    whole = wide.make(spark, setting.scale, setting.work, setting.tpchgen)
    engine = Ours(spark, small, setting.work, wide.KEYS, FILES // 5)
    table = Ours(spark, whole, setting.work, wide.KEYS, FILES)
    steps = Steps(4)
    for name in ("warms up", "recorded"):
        steps.next(f"OPTIMIZE, {name}")
        engine.prepare()
        settle(spark)
        if name == "recorded":
            samples.start(spark)
        engine.optimize()
    made = setting.work / "optimize.jfr"
    samples.stop(spark, made)
    if not table.exists():
        table.prepare()
        table.optimize()
    view = table.view()
    drawn = {k: [r[0] for r in spark.read.parquet(str(whole)).select(k).sample(1e-4, 5).collect()] for k in wide.KEYS}
    generator = random.Random(11)

    def look(times: int) -> None:
        for n in range(times):
            key = wide.KEYS[n % 3]
            value = generator.choice(drawn[key])
            spark.sql(f"SELECT count(*), sum(l_extendedprice) FROM {view} WHERE {key} = {value}").collect()

    steps.next("lookups, warm up")
    look(LOOKUPS)
    steps.next("lookups, recorded")
    samples.start(spark)
    look(LOOKUPS)
    looked = setting.work / "lookups.jfr"
    samples.stop(spark, looked)
    spark.stop()
    part = Part("profile", "How the processor spends its time")
    part.figures = [
        _figure(f"OPTIMIZE, scale {setting.scale / 5:g}", samples.shares(made, OPTIMIZE)),
        _figure(f"point lookups, scale {setting.scale:g}", samples.shares(looked, LOOKUP)),
    ]
    part.settings = {
        "how": "stacks of task threads by Java's flight recorder; each counts for its innermost frame of known work"
    }
    return part


def _figure(name: str, found: Sequence[tuple[str, float]]) -> Figure:
    return Figure(name, "% of samples", {kind: [100 * share] for kind, share in found}, compared=False)
