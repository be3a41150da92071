"""`write.py WRITER SOURCE FOLDER`, in an old writer's Python: writes the rows of a file by all ways that it has."""

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

WORDS = ("str__", "word__", "empty__", "long__")
Way = Callable[[str], Any]


def pyarrow(source: str) -> dict[str, Way]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    # Version 19.0.0 cannot read the Parquet file.
    plain = pa.ipc.open_file(source.replace(".parquet", ".arrow")).read_all()
    names = [n for n in plain.column_names if n.startswith(WORDS)]

    def coded(table: Any) -> Any:
        for n in names:
            table = table.set_column(table.column_names.index(n), n, table[n].combine_chunks().dictionary_encode())
        structs = table["st"].combine_chunks()
        words = pa.StructArray.from_arrays(
            [structs.field(0), structs.field(1).dictionary_encode()], ["x", "w"], mask=structs.is_null()
        )
        return table.set_column(table.column_names.index("st"), "st", words)

    def chunks(table: Any, at: Any, code: bool) -> Any:
        ends = [*at, table.num_rows]
        parts = [table.slice(a, b - a) for a, b in zip(at, ends[1:], strict=True)]
        flat = [p.select([n for n in p.column_names if n not in ("st", "li")]).combine_chunks() for p in parts]
        if code:
            flat = [f.select(names) for f in flat]
            arrays = {n: pa.chunked_array([f[n].combine_chunks().dictionary_encode() for f in flat]) for n in names}
            return pa.table(arrays)
        return pa.concat_tables(flat)

    def in_parts(path: str) -> None:
        with pq.ParquetWriter(path, plain.schema) as writer:
            for start in range(0, plain.num_rows, 1300):
                writer.write_table(plain.slice(start, 1300), row_group_size=700)

    def in_batches(path: str) -> None:
        with pq.ParquetWriter(path, plain.schema, data_page_size=500) as writer:
            for batch in plain.to_batches(max_chunksize=333):
                writer.write_batch(batch)

    uneven = chunks(plain, [0, 1000, 1001, 3000], True)
    return {
        "one": lambda p: pq.write_table(plain, p),
        "groups": lambda p: pq.write_table(plain, p, row_group_size=900),
        "pages": lambda p: pq.write_table(plain, p, data_page_size=200, write_batch_size=64),
        "version_2": lambda p: pq.write_table(plain, p, data_page_version="2.0", data_page_size=900, version="2.6"),
        "version_1": lambda p: pq.write_table(plain, p, version="1.0", use_dictionary=False),
        "coded": lambda p: pq.write_table(coded(plain), p),
        "coded_groups": lambda p: pq.write_table(coded(plain), p, row_group_size=777, data_page_size=300),
        "chunks": lambda p: pq.write_table(chunks(plain, [0, 7, 1000, 3000], False), p, row_group_size=1700),
        "coded_chunks": lambda p: pq.write_table(uneven, p),
        "coded_chunks_groups": lambda p: pq.write_table(uneven, p, row_group_size=1500),
        "unified": lambda p: pq.write_table(uneven.unify_dictionaries(), p),
        "unified_pages": lambda p: pq.write_table(uneven.unify_dictionaries(), p, data_page_size=200),
        "parts": in_parts,
        "batches": in_batches,
    }


def polars(source: str) -> dict[str, Way]:
    import polars as pl

    frame = pl.read_parquet(source)
    names = [n for n in frame.columns if n.startswith(WORDS)]
    coded = frame.with_columns([pl.col(n).cast(pl.Categorical) for n in names])
    words = sorted(frame["word__none"].unique())
    enum = frame.select([pl.col(n).cast(pl.Enum(words)) for n in names if n.startswith("word")])
    parts = pl.concat([frame.slice(0, 7), frame.slice(7, 2000), frame.slice(2007)], rechunk=False)
    return {
        "one": lambda p: frame.write_parquet(p),
        "full": lambda p: frame.write_parquet(p, statistics="full"),
        "groups": lambda p: frame.write_parquet(p, row_group_size=900),
        "pages": lambda p: frame.write_parquet(p, data_page_size=500),
        "pages_full": lambda p: frame.write_parquet(p, data_page_size=900, row_group_size=2100, statistics="full"),
        "chunks": lambda p: parts.write_parquet(p),
        "coded": lambda p: coded.write_parquet(p),
        "coded_pages": lambda p: coded.write_parquet(p, data_page_size=300, row_group_size=1900),
        "enum": lambda p: enum.write_parquet(p, data_page_size=300),
        "sink": lambda p: frame.lazy().sink_parquet(p),
        "sink_groups": lambda p: parts.lazy().sink_parquet(p, row_group_size=1000, data_page_size=700),
        "by_pyarrow": lambda p: frame.write_parquet(p, compression="snappy"),
    }


def duckdb(source: str) -> dict[str, Way]:
    import duckdb as ddb

    db = ddb.connect()
    db.execute("SET threads TO 2")
    db.execute(f"CREATE TABLE t AS SELECT * FROM read_parquet('{source}')")
    # A table of several of DuckDB's own row groups, which have 122,880 rows.
    flat = [r[0] for r in db.execute("DESCRIBE t").fetchall()]
    small = ", ".join(n for n in flat if n.endswith(("__some", "__first", "__but_one")))
    db.execute(f"CREATE TABLE big AS SELECT {small} FROM t, range(40)")
    db.execute("CREATE TYPE word AS ENUM (SELECT DISTINCT word__none FROM t)")
    # Version 1.4 and later write what other readers cannot read.
    unsigned = ", ".join(n for n in flat if n.startswith("u32"))
    words = ", ".join(f"CAST({n} AS word) AS {n}" for n in flat if n.startswith("word"))

    def copy(query: str, options: str = "") -> Way:
        return lambda p: db.execute(f"COPY ({query}) TO '{p}' (FORMAT PARQUET{options})")

    return {
        "one": copy("SELECT * FROM t"),
        "groups": copy("SELECT * FROM t", ", ROW_GROUP_SIZE 2048"),
        "zstd": copy("SELECT * FROM t", ", CODEC 'ZSTD', ROW_GROUP_SIZE 2048"),
        "big": copy("SELECT * FROM big"),
        "big_groups": copy("SELECT * FROM big", ", ROW_GROUP_SIZE 10000"),
        "enum": copy(f"SELECT {words} FROM t", ", ROW_GROUP_SIZE 2048"),
        "version_2": copy(f"SELECT * EXCLUDE ({unsigned}) FROM t", ", PARQUET_VERSION 'V2', ROW_GROUP_SIZE 2048"),
        "blooms": copy("SELECT * FROM t", ", DICTIONARY_SIZE_LIMIT 100"),
        "ordered": copy("SELECT * FROM t ORDER BY str__none", ", ROW_GROUP_SIZE 2048"),
    }


def datafusion(source: str) -> dict[str, Way]:
    import pyarrow.parquet as pq

    def written(settings: dict[str, str], coded: bool = False) -> Way:
        def way(path: str) -> None:
            from datafusion import SessionConfig, SessionContext

            config = SessionConfig({"datafusion.execution.target_partitions": "1", **settings})
            context = SessionContext(config)
            table = pq.read_table(source)
            if coded:
                for n in [n for n in table.column_names if n.startswith(WORDS)]:
                    at = table.column_names.index(n)
                    table = table.set_column(at, n, table[n].combine_chunks().dictionary_encode())
            context.register_record_batches("t", [table.to_batches(max_chunksize=700)])
            folder = Path(path + ".d")
            context.sql("SELECT * FROM t").write_parquet(f"{folder}/")
            for i, made in enumerate(sorted(folder.glob("*.parquet"))):
                made.rename(path if i == 0 else path.replace(".unfinished", f"-{i}.parquet"))
            folder.rmdir()

        return way

    options = "datafusion.execution.parquet."
    return {
        "one": written({}),
        "groups": written({options + "max_row_group_size": "900"}),
        "pages": written({options + "data_page_row_count_limit": "100", options + "write_batch_size": "64"}),
        "cut": written({options + "statistics_truncate_length": "20"}),
        "coded": written({options + "data_page_row_count_limit": "100"}, coded=True),
        "parallel_off": written({options + "allow_single_file_parallelism": "false"}),
        "version_2": written({options + "writer_version": "2.0"}),
    }


def main(writer: str, source: str, folder: str) -> None:
    Path(folder).mkdir(parents=True, exist_ok=True)
    ways = {"pyarrow": pyarrow, "polars": polars, "duckdb": duckdb, "datafusion": datafusion}[writer](source)
    for name, way in ways.items():
        # A version that crashes leaves no file behind that looks complete.
        path = Path(folder, f"{name}.unfinished")
        try:
            way(str(path))
            path.rename(path.with_suffix(".parquet"))
        except BaseException as e:  # Not every version has every option. Rust's panics are no `Exception`.
            path.unlink(missing_ok=True)
            print(f"{writer} {name}: {type(e).__name__}: {(str(e).splitlines() or [''])[0]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
