"""The first rows of random orders, over files of several writers that do not follow the order."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import polars
import pyarrow as pa
import pytest
from comparison import no_skipping, nodes
from pyarrow import parquet

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORDERED = ("big", "real", "price", "name", "day", "flag")


def columns(r: random.Random, first: int, rows: int) -> pa.Table:
    """Rows of one file: values at random, with ties and nulls, and of `real` NaN and -0.0."""

    def some(make: object) -> list[object]:
        nulls = r.choice((0, 0, 0.1, 1 if r.random() < 0.1 else 0))
        return [None if r.random() < nulls else make() for _ in range(rows)]  # type: ignore[operator]

    most = r.choice((3, 1000, 2**60))
    reals = [float("nan"), -0.0, 0.0, float("inf"), -1.5] if r.random() < 0.3 else [-0.0, 0.0, -1.5]
    names = ["", "a", "zz", "ä", "long" * r.choice((1, 30))]
    return pa.table(
        {
            "id": pa.array(range(first, first + rows), pa.int64()),
            "big": pa.array(some(lambda: r.randrange(-most, most)), pa.int64()),
            "real": pa.array(some(lambda: r.choice([*reals, r.uniform(-most, most)])), pa.float64()),
            "price": pa.array(
                some(lambda: Decimal(r.randrange(-most, most) % 10**10).scaleb(-2)), pa.decimal128(12, 2)
            ),
            "name": pa.array(some(lambda: r.choice(names) + str(r.randrange(most))), pa.string()),
            "day": pa.array(some(lambda: r.randrange(-20000, 20000)), pa.int32()).cast(pa.date32()),
            "flag": pa.array(some(lambda: r.random() < 0.5), pa.bool_()),
        }
    )


def write(folder: Path, r: random.Random) -> None:
    """A table of several files, each by another writer."""
    folder.mkdir()
    first = 0
    for n in range(r.randrange(2, 15)):
        rows, name = columns(r, first, r.choice((1, 7, 60, 300))), str(folder / f"{n:02}.parquet")
        first += rows.num_rows
        match r.randrange(3):
            case 0:
                parquet.write_table(rows, name, row_group_size=r.choice((20, 1000)))
            case 1:
                duckdb.sql(f"COPY (FROM rows) TO '{name}' (FORMAT parquet)")
            case _:
                polars.from_arrow(rows).write_parquet(name)  # type: ignore[union-attr]


def query(r: random.Random, table: str) -> tuple[str, str | None]:
    """A query, and the best value of a file in its order; None if its filter or its nulls may need more files."""
    by = r.sample(ORDERED, r.choice((1, 1, 2)))
    ways = [r.choice(("", "DESC", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST")) for _ in by]
    where = r.choice(
        ["true", "true", f"{by[0]} IS NOT NULL", "id % 3 > 0", "id > 100", "real > 0", "big < 7", "day IS NULL"]
    )
    order = ", ".join(f"{column} {way}" for column, way in zip(by, ways, strict=True))
    text = f"SELECT {{}} FROM {table} WHERE {where} ORDER BY {order}{{}} LIMIT {r.choice((1, 2, 5, 40))}"
    plain = len(by) == 1 and by[0] in ("big", "price", "day") and where in ("true", f"{by[0]} IS NOT NULL")
    nulls_last = ways[0] in ("DESC", "ASC NULLS LAST") or where.endswith("IS NOT NULL")
    best = f"{'max' if ways[0].startswith('DESC') else 'min'}({by[0]})"
    return f"{text} OFFSET {r.choice((0, 0, 0, 3))}", best if plain and nulls_last else None


def most_files(spark: SparkSession, table: str, text: str, best: str) -> int:
    """A file for each row, and those that have as good a value as the last of these."""
    limit, offset = (int(text.split(word)[1].split()[0]) for word in ("LIMIT", "OFFSET"))
    with no_skipping(spark):
        files = spark.sql(f"SELECT {best} AS best FROM {table} GROUP BY input_file_name()").collect()
    values = sorted((file.best for file in files if file.best is not None), reverse=best.startswith("max"))
    # Files of which the bounds say nothing have nulls only.
    if len(values) < limit + offset:
        return len(files)
    last = values[limit + offset - 1]
    return sum(value >= last if best.startswith("max") else value <= last for value in values)


def files_read(frame: DataFrame) -> int:
    """The files that a query has read."""
    metrics = [node.metrics() for node in nodes(frame)]
    return sum(int(m.apply("numFiles").value()) for m in metrics if m.contains("numFiles"))


@pytest.mark.test_rest
@pytest.mark.parametrize(
    ("seeds", "tables"), [(range(1), 2), pytest.param(range(1, 26), 4, marks=pytest.mark.test_all)]
)
def test_the_first_rows_are_those_of_spark(spark: SparkSession, tmp_path: Path, seeds: range, tables: int) -> None:
    asked = bounded = kept = whole = 0
    for seed in seeds:
        r = random.Random(seed)
        for n in range(tables):
            folder = tmp_path / f"{seed}-{n}"
            write(folder, r)
            table = f"parquet.`{folder}`"
            if r.random() < 0.5:
                spark.sql(f"CREATE SKIPPING INDEX ON {table}")
            else:
                spark.sql(f"OPTIMIZE {table} FULL ZORDER BY (id) OPTIONS ('num-files' = '{r.randrange(2, 12)}')")
            for _ in range(20):
                text, best = query(r, table)
                by = text.split("ORDER BY ")[1].split("{}")[0]
                keys = ", ".join(f"CAST({part.split()[0]} AS STRING)" for part in by.split(", "))
                # Which of tied rows come first is open, unless the order ends with a unique column.
                for shown, more in ((keys, ""), ("id", ", id DESC")):
                    with no_skipping(spark):
                        expected = spark.sql(text.format(shown, more)).collect()
                    assert spark.sql(text.format(shown, more)).collect() == expected, f"{seed}: {text}"
                asked += 1
                if best is not None:
                    frame = spark.sql(text.format("id", ""))
                    frame.collect()
                    found, files = files_read(frame), len(list(folder.glob("*.parquet")))
                    most = most_files(spark, table, text, best)
                    assert found <= most, f"{seed}: {text}: {found} of {files} files"
                    bounded, kept, whole = bounded + 1, kept + found, whole + files
    assert bounded > 0
    assert kept < whole
    print(f"{asked} queries in two forms; {bounded} of a known bound read {kept} of {whole} files")
