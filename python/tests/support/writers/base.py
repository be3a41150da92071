"""The rows that every writer gets: what writers have got wrong, in one Parquet file."""

import datetime as dt
import decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 5000

EPOCH = dt.datetime(1970, 1, 1)

# Where the nulls are: whole pages, row groups and columns of them, and single ones.
NULLS: dict[str, Any] = {
    "none": lambda i: False,
    "some": lambda i: i % 4 == 0,
    "first": lambda i: i < ROWS // 2,
    "last": lambda i: i >= ROWS // 2,
    "but_one": lambda i: i != 1234,
    "all": lambda i: True,
}


def _float(i: int) -> float:
    return (i * 7919 % 5003 - 2500) / 4


def _odd_float(i: int) -> float:
    return float("nan") if i % 10 == 3 else -0.0 if i % 10 == 5 else 0.0 if i % 10 == 6 else _float(i)


KINDS: dict[str, tuple[pa.DataType, Any]] = {
    "i8": (pa.int8(), lambda i: i % 256 - 128),
    "i16": (pa.int16(), lambda i: i * 31 % 60000 - 30000),
    "i32": (pa.int32(), lambda i: i * 7919 - 19_000_000),
    "i64": (pa.int64(), lambda i: (i * 7919 - 19_000_000) << 20),
    "few": (pa.int64(), lambda i: i // 1000 * 1000 + i % 5),
    "u8": (pa.uint8(), lambda i: i % 256),
    "u32": (pa.uint32(), lambda i: i * 800_000 % 2**32),
    "u64": (pa.uint64(), lambda i: i * 3_600_000_000_000_001 % 2**64),
    "f32": (pa.float32(), _float),
    "f64": (pa.float64(), _float),
    "nan": (pa.float64(), _odd_float),
    "zero": (pa.float64(), lambda i: -0.0 if i % 2 else 0.0),
    "yes": (pa.bool_(), lambda i: True),
    "no": (pa.bool_(), lambda i: False),
    "bool": (pa.bool_(), lambda i: i % 3 == 0),
    "late": (pa.bool_(), lambda i: i > 4000),
    "str": (pa.string(), lambda i: f"{i * 7919 % 5003:05d}"),
    "word": (pa.string(), lambda i: f"{'abcde'[i // 1000]}{i % 7}"),
    "empty": (pa.string(), lambda i: ""),
    "long": (pa.string(), lambda i: "z" * 90 + f"{i * 7919 % 5003:05d}" * 9),
    "utf8": (pa.string(), lambda i: chr(0x10FFFF - i % 5) * 40 + str(i) if i % 2 else "\u00e9\uffff" * 30 + str(i)),
    "bin": (pa.binary(), lambda i: bytes([255, i % 256, i // 256]) * (1 + i % 40)),
    "dec9": (pa.decimal128(9, 2), lambda i: decimal.Decimal(i * 7919 % 5003 - 2500) / 4),
    "dec18": (pa.decimal128(18, 3), lambda i: decimal.Decimal((i * 7919 % 5003 - 2500) * 10**9) / 8),
    "dec38": (pa.decimal128(38, 2), lambda i: decimal.Decimal((i * 7919 % 5003 - 2500) * 10**25) / 4),
    "date": (pa.date32(), lambda i: dt.date(1700, 1, 1) + dt.timedelta(days=i * 29)),
    "ts_ms": (pa.timestamp("ms"), lambda i: EPOCH + dt.timedelta(hours=i * 331 - 800_000)),
    "ts_us": (pa.timestamp("us"), lambda i: EPOCH + dt.timedelta(hours=i * 331 - 800_000, microseconds=i)),
    "utc": (pa.timestamp("us", "UTC"), lambda i: EPOCH + dt.timedelta(hours=i * 331 - 800_000, microseconds=i)),
}


def table() -> pa.Table:
    columns = {}
    for kind, (data_type, value) in KINDS.items():
        values = [value(i) for i in range(ROWS)]
        for pattern, is_null in NULLS.items():
            columns[f"{kind}__{pattern}"] = pa.array(
                [None if is_null(i) else v for i, v in enumerate(values)], data_type
            )
    # A null struct, and a null field of a struct that is none.
    structs = [None if i % 5 == 0 else {"x": None if i % 3 == 0 else i, "w": f"w{i % 3}"} for i in range(ROWS)]
    columns["st"] = pa.array(structs, pa.struct([("x", pa.int64()), ("w", pa.string())]))
    lists = [None if i % 5 == 0 else [] if i % 5 == 1 else [i, None] for i in range(ROWS)]
    columns["li"] = pa.array(lists, pa.list_(pa.int64()))
    return pa.table(columns)


def write(path: Path) -> None:
    """Write the rows as Parquet, and beside that file in Arrow's format."""
    rows = table()
    # DuckDB 1.1.1 cannot read the dictionaries.
    pq.write_table(rows, path, use_dictionary=False)
    with pa.ipc.new_file(path.with_suffix(".arrow"), rows.schema) as arrow:
        arrow.write_table(rows)
