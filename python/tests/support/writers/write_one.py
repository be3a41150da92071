"""Run by the Python of an old writer: writes the rows of one file in a random way: WRITER SOURCE TARGET SEED."""

import random
import sys
from typing import Any


def pyarrow(source: str, target: str, r: random.Random) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pq.read_table(source).replace_schema_metadata(None)
    at = r.randrange(table.num_rows + 1)
    for i, field in enumerate(table.schema):
        if pa.types.is_string(field.type) and r.random() < 0.7:
            # A categorical column of two chunks.
            column = table.column(i)
            parts: list[Any] = [column[:at].combine_chunks(), column[at:].combine_chunks()]
            coded = [(p.combine_chunks() if isinstance(p, pa.ChunkedArray) else p).dictionary_encode() for p in parts]
            table = table.set_column(i, field.name, pa.chunked_array(coded))
    table = table.unify_dictionaries() if r.random() < 0.5 else table
    pq.write_table(table, target, row_group_size=r.choice((7, 25, 1000)), data_page_size=r.choice((64, 2**20)))


def polars(source: str, target: str, r: random.Random) -> None:
    import polars as pl

    frame = pl.read_parquet(source)
    frame.write_parquet(target, row_group_size=r.choice((30, 1000)), data_page_size=r.choice((64, 2**20)))


def duckdb(source: str, target: str, r: random.Random) -> None:
    import duckdb as ddb

    with ddb.connect() as db:
        db.execute("SET TimeZone = 'UTC'")
        groups = r.choice((2048, 122880))
        db.execute(f"COPY (SELECT * FROM '{source}') TO '{target}' (FORMAT PARQUET, ROW_GROUP_SIZE {groups})")


if __name__ == "__main__":
    writer, source, target, seed = sys.argv[1:]
    {"pyarrow": pyarrow, "polars": polars, "duckdb": duckdb}[writer](source, target, random.Random(int(seed)))
