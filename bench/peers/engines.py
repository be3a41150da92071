"""The engines. Each can take files as its table, optimize the table, and name it for queries."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession


class Engine(ABC):
    """An engine that can lay out a table.

    Args:
        spark: the session
        source: a folder of plain Parquet files, never changed
        work: a folder that the engine may write to
        keys: the columns to cluster by
        files: how many files to write
    """

    name: str

    def __init__(self, spark: SparkSession, source: Path, work: Path, keys: Sequence[str], files: int) -> None:
        self.spark = spark
        self.source = source
        self.keys = keys
        self.files = files
        self.folder = work / f"{self.name}-{source.name}"
        self.size = sum(p.stat().st_size for p in source.glob("*.parquet"))

    @abstractmethod
    def prepare(self) -> None:
        """Make the table anew from the files of the source. This is not measured."""

    @abstractmethod
    def optimize(self) -> int:
        """Optimize the table.

        Returns:
            the number of files written
        """

    @abstractmethod
    def view(self) -> str:
        """The table, as a query names it."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether an optimized table of an earlier run exists."""


class Ours(Engine):
    """`OPTIMIZE .. ZORDER BY` on plain files."""

    name = "ours"

    def prepare(self) -> None:
        """Copy the files."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.source, self.folder)

    def optimize(self) -> int:
        """Use the default settings, except for the number of files."""
        [row] = self.spark.sql(
            f"OPTIMIZE parquet.`{self.folder}` {self.layout()} OPTIONS ('num-files' = '{self.files}')"
        ).collect()
        return int(row.metrics.numFilesAdded)

    def layout(self) -> str:
        """The part of the statement that says how to cluster."""
        return f"ZORDER BY ({', '.join(self.keys)})"

    def view(self) -> str:
        """Name the folder as a table that was read before: Spark already has its listing."""
        self.spark.read.parquet(str(self.folder)).createOrReplaceTempView("ours")
        return "ours"

    def exists(self) -> bool:
        """Whether an optimized table of an earlier run exists."""
        return (self.folder / "_zorder").exists()


class Delta(Engine):
    """Delta Lake's `OPTIMIZE .. ZORDER BY`."""

    name = "delta"

    def prepare(self) -> None:
        """Copy the files, and make Delta's log once."""
        converted = self.folder.with_name(f"delta-source-{self.source.name}")
        if not (converted / "_delta_log").exists():
            shutil.rmtree(converted, ignore_errors=True)
            shutil.copytree(self.source, converted)
            self.spark.sql(f"CONVERT TO DELTA parquet.`{converted}`")
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(converted, self.folder)

    def optimize(self) -> int:
        """Set the file size. Delta derives the number of files from it."""
        self.spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(self.size // self.files))
        [row] = self.spark.sql(f"OPTIMIZE delta.`{self.folder}` ZORDER BY ({', '.join(self.keys)})").collect()
        return int(row.metrics.numFilesAdded)

    def view(self) -> str:
        """Name the table by its path."""
        return f"delta.`{self.folder}`"

    def exists(self) -> bool:
        """Whether there are two commits: the conversion and OPTIMIZE."""
        return len(list((self.folder / "_delta_log").glob("*.json"))) > 1


class Iceberg(Engine):
    """Iceberg's `rewrite_data_files` with a Z-order."""

    name = "iceberg"

    @property
    def table(self) -> str:
        """The table's name in the catalog."""
        return f"db.t_{self.source.name.replace('-', '_').replace('.', '_')}"

    def prepare(self) -> None:
        """Add the same files to a new table."""
        self.spark.sql(f"DROP TABLE IF EXISTS ice.{self.table}")
        kept = self.folder.with_name(f"iceberg-source-{self.source.name}")
        if not kept.exists():
            shutil.copytree(self.source, kept)
        columns = self.spark.read.parquet(str(kept)).schema
        # Added files have no field ids of Iceberg. So it finds columns by name.
        declared = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in columns)
        self.spark.sql(
            f"CREATE TABLE ice.{self.table} ({declared}) USING iceberg "
            "TBLPROPERTIES ('write.parquet.compression-codec' = 'snappy')"
        )
        self.spark.sql(f"CALL ice.system.add_files(table => '{self.table}', source_table => '`parquet`.`{kept}`')")

    def optimize(self) -> int:
        """Let files grow beyond their target size. Otherwise each would be split in two."""
        options = {
            "rewrite-all": "true",
            "target-file-size-bytes": str(self.size // self.files),
            "max-file-size-bytes": str(10 * self.size // self.files),
            "min-file-size-bytes": "1",
            "max-file-group-size-bytes": str(1 << 40),
        }
        pairs = ", ".join(f"'{k}', '{v}'" for k, v in options.items())
        [row] = self.spark.sql(
            f"CALL ice.system.rewrite_data_files(table => '{self.table}', strategy => 'sort', "
            f"sort_order => 'zorder({','.join(self.keys)})', options => map({pairs}))"
        ).collect()
        return int(row.added_data_files_count)

    def view(self) -> str:
        """Name the table in its catalog."""
        return f"ice.{self.table}"

    def exists(self) -> bool:
        """Whether there are two snapshots: the added files and the rewrite."""
        folder = self.folder.parent / "ice" / self.table.replace(".", "/") / "metadata"
        return len(list(folder.glob("snap-*.avro"))) > 1


class Plain(Engine):
    """Plain Spark: partition by ranges of the keys, and sort each file."""

    name = "spark"

    def prepare(self) -> None:
        """Do nothing: it reads the source itself."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def optimize(self) -> int:
        """Sort by the keys one after the other, so only the first key skips much."""
        rows = self.spark.read.parquet(str(self.source))
        rows.repartitionByRange(self.files, *self.keys).sortWithinPartitions(*self.keys).write.parquet(str(self.folder))
        return len(list(self.folder.glob("*.parquet")))

    def view(self) -> str:
        """This engine is not queried."""
        return f"parquet.`{self.folder}`"

    def exists(self) -> bool:
        """Whether an optimized table of an earlier run exists."""
        return (self.folder / "_SUCCESS").exists()


ENGINES: tuple[type[Engine], ...] = (Ours, Delta, Iceberg, Plain)


def as_many(engines: Sequence[Engine]) -> None:
    """Give the others the number of files that ours wrote. Ours cuts at cell borders, so it writes a few more."""
    for engine in engines[1:]:
        if not isinstance(engine, Ours):
            engine.files = len(list(engines[0].folder.glob("*.parquet")))
