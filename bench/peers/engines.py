"""The engines, with the same three statements: take these files as your table, optimize it, let me query it."""

from __future__ import annotations

import shutil
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from pyspark.sql import SparkSession


class Engine(ABC):
    """One way to lay a table out.

    Args:
        spark: the session
        source: a folder of plain Parquet files, never changed
        work: where the engine may write
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
        """The table as it was before, of the very files of the source; not measured."""

    @abstractmethod
    def optimize(self) -> int:
        """Lays the table out anew.

        Returns:
            the number of files written
        """

    @abstractmethod
    def view(self) -> str:
        """What to select from."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether a table of an earlier run is there, optimized."""


class Ours(Engine):
    """OPTIMIZE .. ZORDER BY over plain files."""

    name = "ours"

    def prepare(self) -> None:
        """A copy."""
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(self.source, self.folder)

    def optimize(self) -> int:
        """By default settings, but for the number of files."""
        by = ", ".join(self.keys)
        [row] = self.spark.sql(
            f"OPTIMIZE parquet.`{self.folder}` ZORDER BY ({by}) OPTIONS ('num-files' = '{self.files}')"
        ).collect()
        return int(row.metrics.numFilesAdded)

    def view(self) -> str:
        """As a table that was read once is: its listing is Spark's."""
        self.spark.read.parquet(str(self.folder)).createOrReplaceTempView("ours")
        return "ours"

    def exists(self) -> bool:
        """See above."""
        return (self.folder / "_zorder").exists()


class Delta(Engine):
    """Delta Lake's OPTIMIZE .. ZORDER BY."""

    name = "delta"

    def prepare(self) -> None:
        """The same files with a log beside them, which is made once."""
        converted = self.folder.with_name(f"delta-source-{self.source.name}")
        if not (converted / "_delta_log").exists():
            shutil.rmtree(converted, ignore_errors=True)
            shutil.copytree(self.source, converted)
            self.spark.sql(f"CONVERT TO DELTA parquet.`{converted}`")
        shutil.rmtree(self.folder, ignore_errors=True)
        shutil.copytree(converted, self.folder)

    def optimize(self) -> int:
        """It counts files by the size of the input."""
        self.spark.conf.set("spark.databricks.delta.optimize.maxFileSize", str(self.size // self.files))
        [row] = self.spark.sql(f"OPTIMIZE delta.`{self.folder}` ZORDER BY ({', '.join(self.keys)})").collect()
        return int(row.metrics.numFilesAdded)

    def view(self) -> str:
        """By path."""
        return f"delta.`{self.folder}`"

    def exists(self) -> bool:
        """Two commits: the conversion and OPTIMIZE."""
        return len(list((self.folder / "_delta_log").glob("*.json"))) > 1


class Iceberg(Engine):
    """Iceberg's rewrite_data_files with a Z-order."""

    name = "iceberg"

    @property
    def table(self) -> str:
        """Within the catalog."""
        return f"db.t_{self.source.name.replace('-', '_').replace('.', '_')}"

    def prepare(self) -> None:
        """The same files, added to a new table."""
        self.spark.sql(f"DROP TABLE IF EXISTS ice.{self.table}")
        kept = self.folder.with_name(f"iceberg-source-{self.source.name}")
        if not kept.exists():
            shutil.copytree(self.source, kept)
        columns = self.spark.read.parquet(str(kept)).schema
        # Added files have no field ids of Iceberg's: columns are found by name.
        declared = ", ".join(f"{f.name} {f.dataType.simpleString()}" for f in columns)
        self.spark.sql(
            f"CREATE TABLE ice.{self.table} ({declared}) USING iceberg "
            "TBLPROPERTIES ('write.parquet.compression-codec' = 'snappy')"
        )
        self.spark.sql(f"CALL ice.system.add_files(table => '{self.table}', source_table => '`parquet`.`{kept}`')")

    def optimize(self) -> int:
        """Files may grow beyond their target, or each would be cut in two."""
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
        """In its catalog."""
        return f"ice.{self.table}"

    def exists(self) -> bool:
        """Two snapshots: the files added and rewritten."""
        folder = self.folder.parent / "ice" / self.table.replace(".", "/") / "metadata"
        return len(list(folder.glob("snap-*.avro"))) > 1


class Plain(Engine):
    """Spark's own means: by ranges of the keys, sorted within each file."""

    name = "spark"

    def prepare(self) -> None:
        """It reads the source itself."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def optimize(self) -> int:
        """One after the other key counts, so only the first skips much."""
        rows = self.spark.read.parquet(str(self.source))
        rows.repartitionByRange(self.files, *self.keys).sortWithinPartitions(*self.keys).write.parquet(str(self.folder))
        return len(list(self.folder.glob("*.parquet")))

    def view(self) -> str:
        """Not queried."""
        return f"parquet.`{self.folder}`"

    def exists(self) -> bool:
        """See above."""
        return (self.folder / "_SUCCESS").exists()


ENGINES: tuple[type[Engine], ...] = (Ours, Delta, Iceberg, Plain)


def as_many(engines: Sequence[Engine]) -> None:
    """Has the others write as many files as ours, the first: these end where a cell does, which makes a few more."""
    for engine in engines[1:]:
        engine.files = len(list(engines[0].folder.glob("*.parquet")))
