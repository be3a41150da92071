"""Packs small files twice: OPTIMIZE decodes and writes all rows, and parquet-java copies the row groups as they are.

A copy takes less time once, but leaves as many row groups as there were files, each with dictionaries of its own. This
measures what that costs in bytes, and in each query from then on. Writes bench/results/row-groups-<date>.md.
"""

from __future__ import annotations

import argparse
import datetime
import shutil
import statistics
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

ROOT = Path(__file__).resolve().parent.parent
ROUNDS = 5
COLUMNS = """
    id, CAST(hash(id, 1) AS INT) a, CAST(hash(id, 2) % 1000 AS INT) b, CAST(hash(id, 3) % 50 AS DECIMAL(9, 2)) price,
    DATE '2020-01-01' + CAST(pmod(hash(id, 4), 2000) AS INT) day, concat('customer-', pmod(hash(id, 5), 20000)) name,
    timestamp_seconds(1600000000 + id) at, sha1(CAST(pmod(hash(id, 6), 1000) AS STRING)) text
"""
QUERIES = {
    "all columns": "SELECT * FROM parquet.`{}`",
    "one column": "SELECT b FROM parquet.`{}`",
    "a lookup": "SELECT * FROM parquet.`{}` WHERE name = 'customer-77'",
}


def copied(spark: SparkSession, source: Path, to: Path, files: int) -> None:
    """Append the row groups of the small files to a few new ones."""
    jvm: Any = spark._jvm
    parquet = jvm.org.apache.parquet.hadoop
    conf = spark._jsc.hadoopConfiguration()
    small = sorted(source.glob("*.parquet"))
    to.mkdir()
    for i in range(files):
        inputs = [
            parquet.util.HadoopInputFile.fromPath(jvm.org.apache.hadoop.fs.Path(str(f)), conf) for f in small[i::files]
        ]
        reader = parquet.ParquetFileReader.open(inputs[0])
        meta = reader.getFileMetaData()
        reader.close()
        out = parquet.util.HadoopOutputFile.fromPath(jvm.org.apache.hadoop.fs.Path(f"{to}/part-{i}.parquet"), conf)
        mode = getattr(jvm, "org.apache.parquet.hadoop.ParquetFileWriter$Mode").CREATE
        writer = parquet.ParquetFileWriter(out, meta.getSchema(), mode, 128 << 20, 0)
        writer.start()
        for one in inputs:
            writer.appendFile(one)
        writer.end(meta.getKeyValueMetaData())


def packed(spark: SparkSession, source: Path, to: Path, files: int) -> None:
    """Pack copies of the small files with OPTIMIZE."""
    shutil.copytree(source, to)
    spark.sql(f"OPTIMIZE parquet.`{to}` OPTIONS ('num-files' = '{files}')").collect()


def seconds(work: Callable[[], object]) -> float:
    """The seconds that a call takes."""
    began = time.monotonic()
    work()
    return time.monotonic() - began


def main() -> None:
    """Pack the same files in both ways, and ask the same queries of both in turns."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jar", type=Path, required=True)
    parser.add_argument("--rows", type=int, default=4_000_000)
    parser.add_argument("--small", type=int, default=256)
    parser.add_argument("--files", type=int, default=2)
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "row-groups")
    parser.add_argument("--out", type=Path, default=ROOT / "bench" / "results")
    given = parser.parse_args()
    spark = session.start(given.jar, "3g")
    shutil.rmtree(given.work, ignore_errors=True)
    source = given.work / "small"
    spark.sql(f"SELECT {COLUMNS} FROM range({given.rows})").repartition(given.small).write.parquet(str(source))
    ways = {"copied": copied, "packed": packed}
    folders = {name: given.work / name for name in ways}
    took: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(2):
        for name, way in ways.items():
            shutil.rmtree(folders[name], ignore_errors=True)
            took[name].append(seconds(lambda way=way, name=name: way(spark, source, folders[name], given.files)))
    rows = {name: spark.read.parquet(str(f)).count() for name, f in folders.items()}
    assert set(rows.values()) == {given.rows}, rows
    asked: dict[tuple[str, str], list[float]] = {}
    for r in range(ROUNDS + 2):
        for query, text in QUERIES.items():
            for name in list(ways)[:: 1 if r % 2 else -1]:
                frame = spark.sql(text.format(folders[name])).write.format("noop").mode("overwrite")
                took_one = seconds(frame.save)
                if r >= 2:
                    asked.setdefault((query, name), []).append(took_one)
    spark.stop()
    sizes = {name: sum(p.stat().st_size for p in f.glob("*.parquet")) for name, f in folders.items()}
    lines = [
        f"# Row groups copied, and rows packed, {datetime.datetime.now(datetime.timezone.utc).date()}",
        "",
        f"`make bench-row-groups`: {given.rows:,} rows in {given.small} files become {given.files} files.",
        f"Of packing, the second of two times; of queries, medians of {ROUNDS} rounds in turns, with the extremes.",
        "OPTIMIZE also counts and hashes all rows, and exchanges the files.",
        "",
        "| | row groups copied | OPTIMIZE | ratio |",
        "|---|---|---|---|",
        f"| packing, s | {took['copied'][-1]:.1f} | {took['packed'][-1]:.1f} | |",
        f"| MB | {sizes['copied'] / 1e6:.1f} | {sizes['packed'] / 1e6:.1f} | {sizes['copied'] / sizes['packed']:.2f} |",
    ]
    for query in QUERIES:
        one, two = ([1000 * t for t in asked[query, name]] for name in ways)
        ratio = statistics.median(one) / statistics.median(two)
        shown = [f"{statistics.median(v):.0f} ({min(v):.0f} to {max(v):.0f})" for v in (one, two)]
        lines.append(f"| {query}, ms | {shown[0]} | {shown[1]} | {ratio:.2f} |")
    given.out.mkdir(parents=True, exist_ok=True)
    page = given.out / f"row-groups-{datetime.datetime.now(datetime.timezone.utc).date()}.md"
    page.write_text("\n".join(lines) + "\n")
    shutil.rmtree(given.work)
    print("\n".join(lines))


if __name__ == "__main__":
    main()
