"""Measures what sorting the rows inside a file saves: how many rows a point lookup's column index leaves.

OPTIMIZE writes twenty files. A copy of them has the rows of each file in random order. parquet-java counts the rows
that the statistics of row groups and the column indexes leave, with Parquet's default pages. Writes
bench/results/pages-<date>.md.
"""

from __future__ import annotations

import argparse
import datetime
import random
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import session
from layout import uniform

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
KEYS = {"l_suppkey": 10_000, "o_custkey": 100_000, "l_partkey": 200_000}
FILES = 20
LOOKUPS = 40
SEED = 7
AT_MOST = 0.45


class Reader:
    """Counts rows with parquet-java in the session's JVM."""

    def __init__(self, spark: SparkSession) -> None:
        jvm: Any = spark._jvm
        self._hadoop = jvm.org.apache.hadoop
        self._parquet = jvm.org.apache.parquet
        self._conf = jvm.org.apache.hadoop.conf.Configuration()

    def rows_left(self, file: Path, column: str, value: int) -> int:
        """The number of rows that a lookup of the value has to read."""
        path = self._hadoop.fs.Path(str(file))
        api = self._parquet.filter2.predicate.FilterApi
        wanted = self._parquet.filter2.compat.FilterCompat.get(api.eq(api.intColumn(column), value))
        options = (
            self._parquet.HadoopReadOptions.builder(self._conf, path)
            .withRecordFilter(wanted)
            .useStatsFilter(True)
            .useColumnIndexFilter(True)
            .useDictionaryFilter(False)
            .useBloomFilter(False)
            .build()
        )
        source = self._parquet.hadoop.util.HadoopInputFile.fromPath(path, self._conf)
        reader = self._parquet.hadoop.ParquetFileReader.open(source, options)
        try:
            return int(reader.getFilteredRecordCount())
        finally:
            reader.close()


def unsorted(spark: SparkSession, folder: Path, to: Path) -> None:
    """Copy the rows file by file, each file in random order."""
    for n, file in enumerate(sorted(folder.glob("*-zorder-*.parquet"))):
        rows = spark.read.parquet(str(file)).repartition(1).sortWithinPartitions("shuffled")
        rows.write.mode("append").parquet(str(to / f"file-{n:03d}"))


def main() -> int:
    """Run all lookups. Returns 1 if more rows are left than the target allows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=FILES * 300_000)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "pages")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    asked = parser.parse_args()
    shutil.rmtree(asked.work, ignore_errors=True)
    asked.work.mkdir(parents=True)
    spark = session.start(asked.jar, "3g")
    keys = [uniform(key, distinct, n) for n, (key, distinct) in enumerate(KEYS.items())]
    made = spark.range(0, asked.rows, 1, 8).selectExpr(
        *keys, "xxhash64(id, 'order') AS shuffled", "concat('row ', id) AS text"
    )
    made = made.withColumns({key: made[key].cast("int") for key in KEYS})
    source = asked.work / "source"
    made.write.parquet(str(source))
    drawn = spark.read.parquet(str(source)).select(*KEYS).sample(fraction=0.001, seed=SEED).collect()
    rows = random.Random(SEED).sample(drawn, LOOKUPS)
    reader = Reader(spark)
    lines, good = [], True
    for curve in ("ZORDER", "HILBERT"):
        folder, other = asked.work / curve, asked.work / f"{curve}-unsorted"
        shutil.copytree(source, folder)
        options = f"'num-files' = '{FILES}', 'cuts' = 'equal'"
        spark.sql(f"OPTIMIZE parquet.`{folder}` {curve} BY ({', '.join(KEYS)}) OPTIONS ({options})").collect()
        unsorted(spark, folder, other)
        for key in KEYS:
            now, before = (
                sum(reader.rows_left(file, key, row[key]) for row in rows for file in files)
                for files in (sorted(folder.glob("*-zorder-*.parquet")), sorted(other.glob("*/part-*.parquet")))
            )
            good &= now <= AT_MOST * before
            cells = (
                curve.capitalize(),
                key,
                f"{now / LOOKUPS:,.0f}",
                f"{before / LOOKUPS:,.0f}",
                f"**{now / before:.2f}**",
            )
            line = f"| {' | '.join(cells)} |"
            print(line, flush=True)
            lines.append(line)
    spark.stop()
    today = datetime.date.today().isoformat()
    page = f"""# Rows let through inside the files, {today}

{asked.rows:,} rows in {FILES} files with Parquet's default pages. {LOOKUPS} lookups of the values of random rows.
parquet-java counts the rows of the row groups and pages that statistics and column indexes leave, in all files
together. `sorted`: the rows of each file are in the order of the curve. `unsorted`: they are in random order. Target:
a ratio of at most {AT_MOST}.

| curve | lookup by | rows, sorted | rows, unsorted | ratio |
|---|---|---|---|---|
"""
    (asked.out / f"pages-{today}.md").write_text(page + "\n".join(lines) + "\n")
    shutil.rmtree(asked.work)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
