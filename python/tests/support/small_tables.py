"""Folders of a few rows, written and read without Spark, and the files that OPTIMIZE leaves beside them."""

from __future__ import annotations

import json
import os
import re
import time
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import dataset
from pyspark.sql import SparkSession

ROWS = 20
"""The rows of each file."""


def rows_of(ids: Iterable[int]) -> pa.Table:
    """Rows with these ids. The order of `a` is independent of theirs."""
    numbers = list(ids)
    return pa.table({"id": pa.array(numbers, pa.int64()), "a": pa.array([i * 7919 % 101 for i in numbers], pa.int32())})


def write_file(path: Path, ids: Iterable[int]) -> set[int]:
    rows = rows_of(ids)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    return set(rows.column("id").to_pylist())


def age(side: Path, versions: Iterable[int]) -> None:
    """Make records older than the history is kept."""
    long_ago = time.time() - 31 * 24 * 3600
    for version in versions:
        for record in side.glob(f"_v{version:010d}-*"):
            os.utime(record, (long_ago, long_ago))


@dataclass(frozen=True)
class SmallTable:
    """A folder of three files, or of two partitions of three files each, or of two times two that lie deep."""

    root: Path
    partitioned: bool
    deep: bool = False

    @classmethod
    def write(cls, root: Path, partitioned: bool, deep: bool = False) -> SmallTable:
        """Make the folder. Its ids start at 0."""
        table = cls(root, partitioned, deep)
        for f, folder in enumerate(table.folders):
            for i in range(3):
                start = (f * 3 + i) * ROWS
                write_file(folder / f"part-{i}.parquet", range(start, start + ROWS))
        return table

    @property
    def folders(self) -> list[Path]:
        parts = [self.root / "p=1", self.root / "p=2"] if self.partitioned else [self.root]
        return [part / q for part in parts for q in ("q=1", "q=2")] if self.deep else parts

    @property
    def ids(self) -> set[int]:
        """The ids that the table starts with."""
        return set(range(len(self.folders) * 3 * ROWS))

    @property
    def source(self) -> str:
        """The table's name in a statement."""
        return f"parquet.`{self.root}`"

    @property
    def optimize(self) -> str:
        """The statement that turns each folder's three files into two."""
        return f"OPTIMIZE {self.source} ZORDER BY (a) OPTIONS ('num-files' = '{2 * len(self.folders)}')"

    def files(self) -> list[Path]:
        """The data files that every reader sees."""
        return [f for folder in self.folders for f in sorted(folder.glob("*.parquet"))]

    def plain_ids(self) -> Counter[int]:
        """How often each id is there, for a reader without the extension."""
        found = dataset.dataset(self.root, format="parquet", partitioning="hive").to_table(columns=["id"])
        return Counter(found.column("id").to_pylist())

    def spark_ids(self, spark: SparkSession) -> Counter[int]:
        """How often each id is there for a query."""
        return Counter(row[0] for row in spark.sql(f"SELECT id FROM {self.source}").collect())

    def record(self) -> dict[str, Any]:
        """The newest operation's record, in any state."""
        records = re.compile(r"_v\d+(-[0-9a-f-]{36})?\.(publishing|json)")
        newest = max(p for p in (self.root / "_zorder").iterdir() if records.fullmatch(p.name))
        return dict(json.loads(newest.read_text()))

    def leftovers(self, versions: int) -> list[str]:
        """Unexpected files: all except data, statistics, history, records of undone operations, and retired files."""
        number = "|".join(f"{v + 1:010}" for v in range(versions)) or "none"
        # If only some of the folders were exchanged, the record is written anew and holds the time.
        records = rf"_v({number})(-\d+ms)?\.(json|vacuumed)|_v\d+-[0-9a-f-]{{36}}\.(undone|outcome)"
        retired = rf"trash/_v({number})-[0-9a-f-]{{36}}/.+\.retired"
        mine = re.compile(rf"_zorder/(_index-\d+\.zidx|_README\.txt|{records}|{retired})")
        entries = sorted(p for p in self.root.rglob("*") if "_zorder" in p.parts)
        folders = {parent for p in entries if p.is_file() for parent in p.parents}
        belonging = [p for p in entries if p in folders or mine.search(_without_checksum(p).as_posix())]
        return [str(p.relative_to(self.root)) for p in entries if p not in belonging]


def _without_checksum(path: Path) -> Path:
    checked = re.fullmatch(r"\.(.+)\.crc", path.name)
    return path.with_name(checked[1]) if checked else path


def once(ids: Iterable[int]) -> Counter[int]:
    """A count of one for each id."""
    return Counter(set(ids))


def sealed(record: dict[str, Any]) -> bytes:
    """The bytes of a record with its correct checksum."""
    text = json.dumps({k: v for k, v in record.items() if k != "crc"}, separators=(",", ":"))[:-1]
    return f'{text},"crc":{zlib.crc32(text.encode())}}}'.encode()
