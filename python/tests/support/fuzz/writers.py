"""Programs that write files of a table's rows: Spark with many settings, pyarrow, DuckDB."""

import shutil
from abc import ABC, abstractmethod
from pathlib import Path
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
from comparison import settings
from pyarrow import orc
from pyspark.sql import DataFrame

from fuzz.dialects import quoted


class Writer(ABC):
    """Writes rows into new files of a folder."""

    form = "parquet"
    int96 = False
    """Whether its timestamps are INT96."""
    hybrid = False
    """Whether its ancient days are, or may be read as, of the hybrid calendar."""
    tells_schema = True
    """Whether Spark finds its own types in the file."""

    @abstractmethod
    def write(self, frame: DataFrame, folder: Path, files: int, ordered: bool, partition: str | None) -> None:
        """Write this number of files, by ranges of ids or with random rows. Each value of `partition` gets a folder."""

    @abstractmethod
    def words(self) -> str:
        """Describe the writer for people."""


class SparkWriter(Writer):
    """Spark's own writer, with settings that change footers and pages."""

    def __init__(self, r: Random, form: str) -> None:
        self.form = form
        if form == "orc":
            self._options: dict[str, str] = {
                "orc.compress": r.choice(("SNAPPY", "ZLIB", "NONE", "ZSTD")),
                "orc.dictionary.key.threshold": r.choice(("0", "0.8", "1.0")),
                "orc.row.index.stride": r.choice(("1000", "10000")),
            }
            self.settings: dict[str, str] = {}
            self.hybrid = True
            return
        kind = r.choice(("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"))
        rebase = r.choice(("CORRECTED", "CORRECTED", "LEGACY"))
        self.int96, self.hybrid = kind == "INT96", rebase == "LEGACY"
        self.settings = {
            "spark.sql.parquet.outputTimestampType": kind,
            "spark.sql.parquet.datetimeRebaseModeInWrite": rebase,
            "spark.sql.parquet.int96RebaseModeInWrite": r.choice(("CORRECTED", "LEGACY")),
            "spark.sql.parquet.writeLegacyFormat": r.choice(("false", "false", "true")),
        }
        moods: tuple[dict[str, str], ...] = (
            {},
            {"parquet.enable.dictionary": "false"},
            {"parquet.page.size": "512", "parquet.page.row.count.limit": "10"},
            {"parquet.block.size": "2048", "parquet.page.size.row.check.min": "10"},
            {"parquet.writer.version": "PARQUET_2_0"},
            {"parquet.statistics.truncate.length": "3", "parquet.columnindex.truncate.length": "2"},
            {"parquet.column.statistics.enabled": "false"},
            {"parquet.bloom.filter.enabled": "true", "compression": "zstd"},
        )
        self._options = r.choice(moods)

    def write(self, frame: DataFrame, folder: Path, files: int, ordered: bool, partition: str | None) -> None:
        split = frame.repartitionByRange(files, "id") if ordered else frame.repartition(files, "id")
        writer = split.write.format(self.form).mode("append").options(**self._options)
        with settings(frame.sparkSession, **{k.replace(".", "_"): v for k, v in self.settings.items()}):
            (writer.partitionBy(partition) if partition else writer).save(str(folder))

    def words(self) -> str:
        said = [*self.settings.values(), *(f"{k}={v}" for k, v in self._options.items())]
        return f"Spark {self.form} {' '.join(said)}".strip()


class ForeignWriter(Writer):
    """Another program. Spark writes plain files, and this program reads the rows from them."""

    def write(self, frame: DataFrame, folder: Path, files: int, ordered: bool, partition: str | None) -> None:
        table = rows_of(frame, folder.parent / f"{folder.name}.rows")
        order = table.sort_by("id") if ordered else table.take(_shuffled(table))
        folder.mkdir(exist_ok=True)
        present = len(list(folder.rglob(f"*.{self.form}")))
        if not partition:
            self._split(order, folder, files, present)
            return
        for value in sorted(set(order[partition].to_pylist())):
            part = order.filter(pc.equal(order[partition], value)).drop_columns([partition])
            (folder / f"{partition}={value}").mkdir(exist_ok=True)
            self._split(part, folder / f"{partition}={value}", max(files // 3, 1), present)

    def _split(self, table: pa.Table, folder: Path, files: int, present: int) -> None:
        size = -(-table.num_rows // files)
        for n in range(files):
            if n * size < table.num_rows:
                self.write_file(table.slice(n * size, size), folder / f"part-{present + n:05d}.{self.form}")

    @abstractmethod
    def write_file(self, table: pa.Table, path: Path) -> None:
        """Write one file."""


class ArrowWriter(ForeignWriter):
    """pyarrow, with settings of its versions and users."""

    def __init__(self, r: Random) -> None:
        self.tells_schema = r.random() < 0.5
        self.int96 = r.random() < 0.2
        self.hybrid = True
        self._statistics = r.choice(("all", "all", "none", "some"))
        self._options: dict[str, Any] = {
            "version": r.choice(("1.0", "2.4", "2.6")),
            "data_page_version": r.choice(("1.0", "2.0")),
            "use_dictionary": r.random() < 0.5,
            "row_group_size": r.choice((7, 25, 1000)),
            "data_page_size": r.choice((64, 2**20)),
            "write_page_index": r.random() < 0.3,
            "store_schema": r.random() < 0.7,
            "compression": r.choice(("snappy", "zstd", "none")),
            "use_deprecated_int96_timestamps": self.int96,
        }
        if not self.int96:
            self._options["coerce_timestamps"] = r.choice(("us", "us", "ms"))
            self._options["allow_truncated_timestamps"] = True

    def write_file(self, table: pa.Table, path: Path) -> None:
        plain = table if self.tells_schema else table.replace_schema_metadata(None)
        some = [name for name in table.column_names if name not in ("s", "d", "l")]
        statistics = {"all": True, "none": False, "some": some}[self._statistics]
        pq.write_table(_with_repeated_keys(plain), path, write_statistics=statistics, **self._options)

    def words(self) -> str:
        said = " ".join(f"{k}={v}" for k, v in self._options.items())
        return f"pyarrow parquet statistics={self._statistics} spark_schema={self.tells_schema} {said}"


class ArrowOrcWriter(ForeignWriter):
    """ORC by the C++ library."""

    form = "orc"
    hybrid = True
    tells_schema = False

    def __init__(self, r: Random) -> None:
        self._options: dict[str, Any] = {
            "compression": r.choice(("uncompressed", "zstd")),
            "dictionary_key_size_threshold": r.choice((0.0, 1.0)),
            "row_index_stride": r.choice((1000, 10000)),
        }

    def write_file(self, table: pa.Table, path: Path) -> None:
        orc.write_table(_with_repeated_keys(table.replace_schema_metadata(None)), str(path), **self._options)

    def words(self) -> str:
        return f"pyarrow orc {self._options}"


class DuckWriter(ForeignWriter):
    """DuckDB's Parquet."""

    hybrid = True
    tells_schema = False

    def __init__(self, r: Random) -> None:
        version = r.choice(("V1", "V2"))
        # V2 splits the bytes of floating-point numbers, which Spark 3.5 cannot read.
        self._version = "V1" if pyspark.__version__.startswith("3.5") else version
        self._group = r.choice((2048, 122880))
        self._compression = r.choice(("snappy", "zstd", "uncompressed"))

    def write_file(self, table: pa.Table, path: Path) -> None:
        options = f"FORMAT parquet, ROW_GROUP_SIZE {self._group}, PARQUET_VERSION {self._version}"
        with duckdb.connect() as connection:
            connection.execute("SET TimeZone = 'UTC'")
            # A slice with structs has to be copied before DuckDB can take it.
            connection.register("given", table.take(list(range(table.num_rows))))
            target = f"{quoted(path)} ({options}, COMPRESSION {self._compression})"
            connection.execute(f"COPY (SELECT * FROM given) TO {target}")

    def words(self) -> str:
        return f"DuckDB parquet {self._version} {self._compression} row groups of {self._group}"


def rows_of(frame: DataFrame, scratch: Path) -> pa.Table:
    """The rows in pyarrow, with Spark's schema."""
    plain = {
        "spark_sql_parquet_outputTimestampType": "TIMESTAMP_MICROS",
        "spark_sql_parquet_datetimeRebaseModeInWrite": "CORRECTED",
        "spark_sql_parquet_writeLegacyFormat": "false",
    }
    with settings(frame.sparkSession, **plain):
        frame.coalesce(1).write.mode("overwrite").parquet(str(scratch))
    table = pa.concat_tables([pq.ParquetFile(path).read() for path in sorted(scratch.glob("*.parquet"))])
    shutil.rmtree(scratch)
    return table


def _with_repeated_keys(table: pa.Table) -> pa.Table:
    """Repeat the first key of each second map, with another value. Spark reads all entries and finds the first."""
    for n, field in enumerate(table.schema):
        if pa.types.is_map(field.type):
            maps = table[field.name].to_pylist()
            repeated = [[*e, (e[0][0], -1)] if e and at % 2 else e for at, e in enumerate(maps)]
            table = table.set_column(n, field, pa.array(repeated, field.type))
    return table


def _shuffled(table: pa.Table) -> list[int]:
    # Order by a hash of the id, so that a table is the same each time.
    return sorted(range(table.num_rows), key=lambda n: (n * 2654435761 % 2**32, n))
