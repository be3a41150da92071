"""Runs DuckDB on the same files, on a copy of the columns that mean the same to both."""

from pathlib import Path

import duckdb
import pyarrow as pa
from pyarrow import orc

from fuzz.columns import Column
from fuzz.dialects import quoted
from fuzz.predicates import TABLE
from fuzz.tables import FuzzTable

_ALIKE = {"whole", "decimal", "fraction", "text", "binary", "boolean", "date", "timestamp", "ntz", "time"}


def alike(table: FuzzTable, settings: dict[str, str]) -> set[Column]:
    """The columns whose values and order are equal in Spark, under these settings, and in DuckDB. See `dialects`."""
    if table.twins or table.traits.positional:
        return set()
    hybrid = table.ancient and any(w.hybrid for w in table.writers)
    int96 = any(w.int96 for w in table.writers) or "INT96" in table.making.values()
    own_types = all(w.tells_schema for w in table.writers)

    def is_alike(c: Column) -> bool:
        family = c.kind.family
        if c.alias is None or family not in _ALIKE or c.path[0] in {*table.cased, *table.traits.defaults}:
            return False
        # After widening to another family, their strings differ.
        if family not in ("fraction", "decimal") and table.wider.get(c, "INT") not in ("INT", "BIGINT"):
            return False
        if family == "timestamp":
            return table.form == "parquet" and not (hybrid or int96)
        if family == "date":
            return not hybrid
        # Without Spark's own schema in the file, settings decide the type of such a column. In Spark's ORC it is a
        # number.
        # Spark reads INT96 as an instant then, and pyarrow leaves out Spark's schema together with its own.
        if family == "ntz":
            return own_types and table.form == "parquet" and not int96
        if family == "binary":
            return own_types or settings["spark.sql.parquet.binaryAsString"] == "false"
        return True

    return {c for c in table.columns if is_alike(c)}


class Copy:
    """Copy the rows of the files, as they are now."""

    def __init__(self, table: FuzzTable) -> None:
        self._connection = duckdb.connect()
        self._connection.execute("SET TimeZone = 'UTC'")
        self._connection.execute("SET threads = 1")
        self.columns = [c for c in table.columns if c.alias and c.kind.family in _ALIKE and not table.twins]
        files = table.files()
        if table.form == "orc" and table.ancient:
            # DuckDB reads ORC through pyarrow, which cannot hold ancient timestamps.
            self.columns = []
            source = "(SELECT 0 AS id WHERE false)"
        elif table.form == "orc":
            self._connection.register("files", _orc_rows(files))
            source = "files"
            self.columns = [c for c in self.columns if not c.partition]
        else:
            listed = ", ".join(quoted(path) for path in files)
            source = f"read_parquet([{listed}], union_by_name=true, hive_partitioning={table.partition is not None})"
        known = {row[0] for row in self._connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()}
        self.columns = [c for c in self.columns if c.path[0] in known]
        values = ", ".join(["id", *(f"{_value(c)} AS {c.alias}" for c in self.columns)])
        self._connection.execute(f"CREATE TABLE copied AS SELECT {values} FROM {source}")

    def ids(self, condition: str) -> list[int]:
        """Sorted ids, with doubles, of the rows for which a condition in DuckDB's dialect is true."""
        text = condition.replace(TABLE, "copied")
        rows = self._connection.execute(f"SELECT id FROM (SELECT id, ({text}) AS q FROM copied) WHERE q").fetchall()
        return sorted(row[0] for row in rows)

    def close(self) -> None:
        self._connection.close()


def _value(c: Column) -> str:
    if c.kind.family == "timestamp":
        return f"make_timestamp(epoch_us({c.duck_path}))"
    return f"CAST({c.duck_path} AS INT)" if c.partition else c.duck_path


def _orc_rows(files: list[Path]) -> pa.Table:
    # Read by pyarrow, because DuckDB has no reader of ORC. ORC's timestamps have no zone, so they are not compared.
    return pa.concat_tables([orc.ORCFile(str(path)).read() for path in files], promote_options="permissive")
