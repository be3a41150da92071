"""Libraries that write files of a table, and read them again."""

import importlib
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import orc, parquet

from round_trips.kinds import KINDS, Kind, near
from round_trips.seen import Seen
from round_trips.shapes import SHAPES, table

Files = list[Path]


def files(folder: Path, form: str = "parquet") -> Files:
    """The data files that every reader sees."""
    return sorted(f for f in folder.iterdir() if f.suffix == f".{form}" and f.name[0] not in "._")


@dataclass(frozen=True)
class Writer:
    """A library: how it writes the file of a number and reads a folder, and which types and shapes it can write.

    It cannot write columns `without` all the same. `twice` says whether its maps may have a key twice.
    """

    name: str
    write: Callable[[pa.Table, Path, int], None]
    read: Callable[[Files], Seen]
    form: str = "parquet"
    kinds: tuple[Kind, ...] = KINDS
    shapes: tuple[str, ...] = SHAPES
    without: tuple[str, ...] = ()
    twice: bool = False

    def write_folder(self, folder: Path, each: int) -> None:
        """Write two files with so many shapes of each type. Each writer begins with another shape."""
        folder.mkdir()
        rows = table(self.kinds, self.shapes, each, zlib.crc32(self.name.encode()), self.twice)
        rows = rows.select([c for c in rows.column_names if c not in self.without])
        half = len(rows) // 2
        for number in range(2):
            # Not a slice: pyarrow's writer of ORC takes the first rows of structs again for it.
            part = rows.take(list(range(number * half, (number + 1) * half)))
            self.write(part, folder / f"in-{number}.{self.form}", number)


def _module(name: str) -> Any:
    """Make a library that only the environment of the newest Spark has."""
    return importlib.import_module(name)


def _arrow_write(table: pa.Table, file: Path, number: int) -> None:
    """Write one file with dictionaries and one without, so that both decoders are used."""
    plain = number % 2 == 1
    version = "2.0" if plain else "1.0"
    parquet.write_table(table, file, use_dictionary=not plain, data_page_version=version, row_group_size=30)


def _arrow_read(found: Files) -> Seen:
    # Each file by itself: a dataset would make one type of two.
    tables = [parquet.ParquetFile(f).read() for f in found]
    return Seen.of(pa.concat_tables(tables), _types(tables))


def _types(tables: list[pa.Table]) -> dict[str, object]:
    """The types of the columns, and whether all files agree."""
    names = dict.fromkeys(name for t in tables for name in t.column_names)
    kinds = {name: dict.fromkeys(str(t.schema.field(name)) for t in tables) for name in names}
    return {name: " or ".join(found) for name, found in kinds.items()}


def _arrow_orc_write(table: pa.Table, file: Path, number: int) -> None:
    orc.write_table(table, file, dictionary_key_size_threshold=float(number % 2))


def _arrow_orc_read(found: Files) -> Seen:
    tables = [orc.ORCFile(f).read() for f in found]
    return Seen.of(pa.concat_tables(tables), _types(tables))


def _duck_write(rows: pa.Table, file: Path, number: int) -> None:
    version = ("V1", "V2")[number % 2]
    _module("duckdb").sql(f"COPY (FROM rows) TO '{file}' (FORMAT parquet, PARQUET_VERSION {version})")


def _duck_read(found: Files) -> Seen:
    duckdb = _module("duckdb")
    relation = duckdb.read_parquet([str(f) for f in found])
    types = dict(zip(relation.columns, map(str, relation.types), strict=True))
    return Seen.of(relation.to_arrow_table(), types)


def _polars_write(table: pa.Table, file: Path, number: int) -> None:
    _module("polars").from_arrow(table).write_parquet(file, use_pyarrow=False, row_group_size=30)


def _polars_read(found: Files) -> Seen:
    frame = _module("polars").read_parquet(found)
    return Seen.of(frame.to_arrow(), dict(frame.schema))


def _fastparquet_write(table: pa.Table, file: Path, number: int) -> None:
    frame = table.to_pandas(integer_object_nulls=True)
    for name in table.column_names:
        if pa.types.is_integer(table.schema.field(name).type):
            frame[name] = frame[name].astype(str(table.schema.field(name).type).replace("i", "I").replace("u", "U"))
    _module("fastparquet").write(str(file), frame, object_encoding="infer", row_group_offsets=30)


def _fastparquet_read(found: Files) -> Seen:
    frame = _module("fastparquet").ParquetFile([str(f) for f in found]).to_pandas()
    columns = {name: pa.array(frame[name].array, from_pandas=frame[name].dtype.kind != "f") for name in frame}
    return Seen.of(pa.table(columns), dict(frame.dtypes))


_NAN_KEYS = tuple(f"{kind}_{shape}" for kind in ("float", "double") for shape in ("kll", "slk"))
"""Maps whose keys are NaNs of more than one kind, which are one key to some libraries."""

PARQUET = (
    Writer("pyarrow", _arrow_write, _arrow_read, twice=True),
    Writer("DuckDB", _duck_write, _duck_read, without=_NAN_KEYS),
    Writer("Polars", _polars_write, _polars_read),
    Writer(
        "fastparquet",
        _fastparquet_write,
        _fastparquet_read,
        # It takes decimals for floats, and times and days for objects of Python.
        kinds=tuple(kind for kind in KINDS if not kind.name.startswith(("dec", "date", "time"))),
        shapes=(),
    ),
)
ORC = Writer(
    "pyarrow",
    _arrow_orc_write,
    _arrow_orc_read,
    form="orc",
    kinds=tuple(near(kind) for kind in KINDS if not kind.name.startswith(("uint", "time"))),
    twice=True,
)
