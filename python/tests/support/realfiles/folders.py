"""Folders of data files, and what plain readers find in them."""

import hashlib
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

MOST_ROWS = 100_000
"""Files that claim more rows are not read by pyarrow."""


def state(folder: Path) -> dict[str, str]:
    """The files outside of side folders, with their contents."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "_zorder" not in path.relative_to(folder).parts
    }


def data_files(folder: Path) -> list[Path]:
    """The data files that every reader sees."""
    return sorted(path for path in folder.iterdir() if path.is_file() and path.name[0] not in "._")


def spark_rows(spark: SparkSession, source: str) -> Counter[str]:
    """The rows that Spark reads, as text. Python's own types cannot hold some of Spark's values."""
    frame = spark.sql(f"SELECT * FROM {source}")
    # `CAST` of a struct prints binaries as text, which is not UTF-8.
    shown = [
        f"hex({quoted(name)})" if kind == "binary" else f"CAST({quoted(name)} AS STRING)"
        for name, kind in frame.dtypes
        if kind != "void"
    ]
    text = f"to_json(array({', '.join(shown)}))" if shown else "'[]'"
    return Counter(row[0] for row in spark.sql(f"SELECT {text} FROM {source}").collect())


def quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def arrow_rows(folder: Path) -> Counter[str] | None:
    """The rows that pyarrow reads from the files; None if it cannot read one."""
    found: Counter[str] = Counter()
    for path in data_files(folder):
        try:
            table = _arrow_table(path)
            columns = [column.to_pylist() for column in table.columns]
        except (pa.ArrowException, OSError, ValueError, OverflowError, TypeError, KeyError):
            return None
        found.update(Counter(repr(row) for row in zip(*columns, strict=True)))
    return found


def _arrow_table(path: Path) -> pa.Table:
    if is_orc(path):
        file = orc.ORCFile(path)
        if file.nrows > MOST_ROWS:
            raise ValueError(path.name)
        return file.read()
    parquet = pq.ParquetFile(path)
    if parquet.metadata.num_rows > MOST_ROWS:
        raise ValueError(path.name)
    return parquet.read()


def is_of_the_old_calendar(path: Path) -> bool:
    """Whether Spark 2, or Spark 3 in its legacy mode, wrote a Parquet file: other readers show other old days."""
    try:
        keys = {} if is_orc(path) else pq.ParquetFile(path).metadata.metadata or {}
    except (pa.ArrowException, OSError, ValueError):
        return False
    version = keys.get(b"org.apache.spark.version")
    return version is not None and (version < b"3" or any(k.startswith(b"org.apache.spark.legacy") for k in keys))


def claimed_rows(path: Path) -> int:
    """How many rows the footer of a Parquet file claims; 0 if it cannot be read, or for ORC."""
    try:
        return 0 if is_orc(path) else pq.ParquetFile(path).metadata.num_rows
    except (pa.ArrowException, OSError, ValueError):
        return 0


def is_orc(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(3) == b"ORC"


def footer(path: Path) -> dict[str, Any] | None:
    """Schema, field ids and key-value metadata of a file; None if pyarrow cannot tell."""
    try:
        if is_orc(path):
            file = orc.ORCFile(path)
            schema = file.schema.remove_metadata().to_string(show_field_metadata=True)
            return {"schema": schema, "keys": _keys(file.metadata or {})}
        parquet = pq.ParquetFile(path)
        # The first line of the text has the object's address.
        schema = _OLD_INSTANTS.sub("", str(parquet.schema).split("\n", 1)[1])
        ids = _ids(parquet.schema_arrow)
        return {"schema": schema, "ids": ids, "keys": _keys(parquet.metadata.metadata or {})}
    except (pa.ArrowException, OSError, ValueError, KeyError):
        return None


# Old writers say `TIMESTAMP_MILLIS` only, new ones also that instants are meant: see docs/what-a-rewrite-keeps.md.
_OLD_INSTANTS = re.compile(", is_from_converted_type=(?:true|false), force_set_converted_type=(?:true|false)")

# They say which library and which Spark wrote the file.
_OWN_KEYS = (b"org.apache.spark.", b"writer.model.name")

# These repeat the schema in another encoding, or are united. They have tests of their own.
_REWRITTEN_KEYS = (b"ARROW:schema", b"pandas", b"geo")


def _keys(metadata: dict[bytes, bytes]) -> dict[bytes, bytes]:
    kept = {key: value for key, value in metadata.items() if not key.startswith(_OWN_KEYS)}
    return kept | {key: b"there" for key in _REWRITTEN_KEYS if key in kept}


def _ids(schema: pa.Schema) -> list[tuple[str, bytes]]:
    found: list[tuple[str, bytes]] = []

    def below(field: pa.Field, path: str) -> None:
        name = f"{path}.{field.name}"
        found.append((name, (field.metadata or {}).get(b"PARQUET:field_id", b"")))
        for i in range(field.type.num_fields):
            below(field.type.field(i), name)

    for field in schema:
        below(field, "")
    return found
