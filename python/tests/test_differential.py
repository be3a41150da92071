"""Skipping on equals skipping off: generated queries over tables of all types, by several writers.

`QUERIES=2000` asks more, `SEED=n` others.
"""

from __future__ import annotations

import os
import random
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
from predicates import COLUMNS, Generator

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

SEED = int(os.environ.get("SEED", "20261121"))
QUERIES = int(os.environ.get("QUERIES", "400"))
ROWS = 1500
BATCH = 20


def frame(spark: SparkSession, generator: Generator, first: int, count: int) -> DataFrame:
    """Generated rows with their real types."""
    flat = ", ".join(["id BIGINT", *(f"c{n} {given}" for n, (_, _, given) in enumerate(COLUMNS))])
    table = spark.createDataFrame(generator.rows(first, count), flat)

    def typed(n: int, kind: str) -> str:
        return f"unhex(c{n})" if kind == "BINARY" else f"CAST(c{n} AS {kind})"

    plain = [f"{typed(n, kind)} AS {name}" for n, (name, kind, _) in enumerate(COLUMNS) if "." not in name]
    a, b, d = (f"c{n}" for n, (name, _, _) in enumerate(COLUMNS) if "." in name)
    inner = f"IF({d} IS NULL, NULL, named_struct('d', {d}))"
    struct = f"IF({a} IS NULL AND {b} IS NULL, NULL, named_struct('a', {a}, 'b c', {b}, 'in', {inner})) AS st"
    return table.selectExpr("id", *plain, struct)


def write(table: DataFrame, folder: Path, files: int, form: str = "parquet", mode: str = "errorifexists") -> None:
    """So many files, rows at random in them."""
    table.repartition(files, "id").write.format(form).mode(mode).save(str(folder))


def by_pyarrow(source: Path, folder: Path, files: int) -> None:
    """The rows of a folder in the order of their ids, written by another program."""
    table = pq.read_table(source).sort_by("id")
    folder.mkdir()
    size = -(-table.num_rows // files)
    for n in range(files):
        pq.write_table(table.slice(n * size, size), folder / f"part-{n:03d}.parquet", row_group_size=25)


def tables(spark: SparkSession, folder: Path, generator: Generator) -> dict[str, str]:
    """Name to what stands behind FROM."""
    rows = frame(spark, generator, 0, ROWS).cache()
    made = {}
    write(rows, folder / "int96", 8)
    spark.sql(f"OPTIMIZE parquet.`{folder}/int96` ZORDER BY (i, s) OPTIONS ('num-files' = '24')")
    made["optimized, INT96, appended to"] = f"parquet.`{folder}/int96`"
    write(frame(spark, generator, ROWS, 60), folder / "int96", 2, mode="append")

    spark.conf.set("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MICROS")
    write(rows, folder / "micros", 8)
    spark.sql(f"OPTIMIZE parquet.`{folder}/micros` ZORDER BY (st.a, ts WEIGHT 2, d38) OPTIONS ('num-files' = '24')")
    made["optimized by a struct's field"] = f"parquet.`{folder}/micros`"

    rows.orderBy("id").repartitionByRange(20, "id").write.parquet(str(folder / "footers"))
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}/footers`")
    changed = sorted((folder / "footers").glob("*.parquet"))[3]
    pq.write_table(pq.read_table(changed).slice(0, 10), changed)  # the entry of this file is stale now
    (changed.parent / f".{changed.name}.crc").unlink(missing_ok=True)
    made["indexed from Spark's footers, a file replaced"] = f"parquet.`{folder}/footers`"

    by_pyarrow(folder / "micros", folder / "pyarrow", 20)
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}/pyarrow`")
    made["indexed from pyarrow's footers"] = f"parquet.`{folder}/pyarrow`"

    write(rows, folder / "orc", 6, form="orc")
    spark.sql(f"OPTIMIZE orc.`{folder}/orc` ZORDER BY (l, dt) OPTIONS ('num-files' = '20')")
    made["optimized ORC"] = f"orc.`{folder}/orc`"

    rows.repartitionByRange(20, "id").write.orc(str(folder / "orc_footers"))
    spark.sql(f"CREATE SKIPPING INDEX ON orc.`{folder}/orc_footers`")
    made["indexed from ORC's footers"] = f"orc.`{folder}/orc_footers`"

    by_range = rows.selectExpr("*", "CAST(id % 3 AS INT) AS p")
    by_range.repartition(3, "p").write.partitionBy("p").orc(str(folder / "orc_parts"))
    spark.sql(f"OPTIMIZE orc.`{folder}/orc_parts` ZORDER BY (s, d18) OPTIONS ('num-files' = '24')")
    made["optimized ORC, partitioned"] = f"orc.`{folder}/orc_parts`"

    by_range.repartition(3, "p").write.partitionBy("p").parquet(str(folder / "parts"))
    spark.sql(f"OPTIMIZE parquet.`{folder}/parts` ZORDER BY d, f OPTIONS ('num-files' = '24')")
    made["optimized, partitioned"] = f"parquet.`{folder}/parts`"
    rows.unpersist()
    return made


def truth(spark: SparkSession, relation: str, predicates: list[str]) -> list[list[int]]:
    """Ids by evaluating each predicate on every row: no filter, no pushdown, no skipping."""
    spark.conf.set("spark.zorder.skipping.enabled", "false")
    columns = ", ".join(f"({p}) AS q{n}" for n, p in enumerate(predicates))
    rows = spark.sql(f"SELECT id, {columns} FROM {relation}").collect()
    spark.conf.set("spark.zorder.skipping.enabled", "true")
    return [sorted(row[0] for row in rows if row[n + 1]) for n in range(len(predicates))]


def without_skipping(spark: SparkSession, relation: str, predicate: str) -> list[int]:
    """Ids by the filter itself, every file read."""
    spark.conf.set("spark.zorder.skipping.enabled", "false")
    rows = spark.sql(f"SELECT id FROM {relation} WHERE {predicate}").collect()
    spark.conf.set("spark.zorder.skipping.enabled", "true")
    return sorted(row.id for row in rows)


def test_skipping_never_changes_an_answer(spark: SparkSession, tmp_path: Path) -> None:
    generator = Generator(SEED)
    # Thousands of tiny queries: compiling each would take longer than running it.
    for key in ("spark.sql.codegen.wholeStage", "spark.sql.adaptive.enabled"):
        spark.conf.set(key, "false")
    # Spark's own reader trusts pyarrow's bounds in spite of NaN (`x > 12` loses NaN): here, only our skipping is asked.
    for key in ("spark.sql.parquet.filterPushdown", "spark.sql.orc.filterPushdown"):
        spark.conf.set(key, "false")
    spark.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
    assert spark._jvm is not None
    errors = spark._jvm.org.sparkzorder.skipping.SkippingErrors
    gave_up = errors.total()
    relations = tables(spark, tmp_path, generator)
    settings = random.Random(SEED)
    total = kept = asked = 0
    wrong: list[str] = []
    for n in range(0, QUERIES, BATCH):
        name, relation = list(relations.items())[n // BATCH % len(relations)]
        spark.conf.set(
            "spark.sql.session.timeZone", settings.choice(("UTC", "UTC", "America/Los_Angeles", "Asia/Kolkata"))
        )
        spark.conf.set("spark.sql.parquet.enableVectorizedReader", settings.choice(("true", "true", "false")))
        spark.conf.set("spark.sql.caseSensitive", settings.choice(("false", "false", "true")))
        spark.conf.set("spark.sql.ansi.enabled", settings.choice(("true", "true", "false")))
        predicates = [generator.predicate() for _ in range(BATCH)]
        expected = truth(spark, relation, predicates)
        union = " UNION ALL ".join(f"SELECT {q} AS q, id FROM {relation} WHERE {p}" for q, p in enumerate(predicates))
        found: list[list[int]] = [[] for _ in predicates]
        for row in spark.sql(union).collect():
            found[row.q].append(row.id)
        for scan in spark.sql(f"EXPLAIN SKIPPING {union}").collect():
            total += scan.files_total
            kept += scan.files_kept
        asked += BATCH
        for p, f, e in zip(predicates, found, expected, strict=True):
            # Spark may answer a filter otherwise than the same expression in a projection: `x NOT IN (.., NULL)` is
            # never true as a filter, but true of NaN where an InSet is evaluated. The filter without skipping counts.
            if sorted(f) != e and sorted(f) != without_skipping(spark, relation, p):
                wrong.append(f"{name}: {re.sub(str(tmp_path), '..', relation)} WHERE {p}: {len(f)} rows, not {len(e)}")
    print(f"seed {SEED}: {asked} queries, {total - kept} of {total} files skipped, {len(wrong)} mismatches")
    assert not wrong, f"SEED={SEED} QUERIES={asked} replays:\n" + "\n".join(wrong[:20])
    assert total - kept >= total / 3, f"only {total - kept} of {total} files were skipped"
    assert errors.total() == gave_up, "skipping gave up with an error, see the log"
