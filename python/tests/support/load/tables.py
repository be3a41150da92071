"""The tables of a load: a flat one, one with partitions, and one of ORC."""

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

from load import rows
from load.ledger import Ledger

FIRST = 40
"""The batches that a table has at the beginning."""
BY_FILE, BY_INSERT = "files", "inserts"
"""The two appenders. The first appends even batches, the second odd ones."""


@dataclass(frozen=True)
class LoadTable:
    """A folder that many processes work on."""

    work: Path
    name: str
    file_format: str
    partitioned: bool

    @property
    def root(self) -> Path:
        return self.work / "tables" / self.name

    @property
    def source(self) -> str:
        """The table's name in a query by path."""
        return f"{self.file_format}.`{self.root}`"

    @property
    def pattern(self) -> str:
        """A pattern that matches its files."""
        return str(self.root / ("p=*" if self.partitioned else "") / f"*.{self.file_format}")

    @property
    def create(self) -> list[str]:
        """The statements that add it to a catalog."""
        columns = rows.SCHEMA + (", p INT" if self.partitioned else "")
        by = "PARTITIONED BY (p) " if self.partitioned else ""
        made = f"CREATE TABLE {self.name} ({columns}) USING {self.file_format} {by}LOCATION '{self.root}'"
        return [made, f"MSCK REPAIR TABLE {self.name}"] if self.partitioned else [made]

    def insert(self, batch: int) -> str:
        """The statement that appends a batch as one file."""
        partition = f", {rows.p_of(batch)} AS p" if self.partitioned else ""
        return f"INSERT INTO {self.name} SELECT *{partition} FROM ({rows.select(batch)})"

    def append(self, batch: int) -> None:
        """Append a batch as a file that is complete when it gets its name."""
        folder = self.root / f"p={rows.p_of(batch)}" if self.partitioned else self.root
        folder.mkdir(parents=True, exist_ok=True)
        hidden = folder / f".batch-{batch}.tmp"
        ids = rows.ids_of([batch])
        columns = {
            "id": pa.array(ids, pa.int64()),
            "batch": pa.array(rows.batch_of(ids), pa.int32()),
            "k": pa.array(rows.k_of(ids), pa.int32()),
            "v": pa.array(rows.v_of(ids), pa.int64()),
            "s": pa.array(rows.s_of(ids)),
        }
        (pq if self.file_format == "parquet" else orc).write_table(pa.table(columns), hidden)
        hidden.rename(folder / f"batch-{batch}.{self.file_format}")

    def ledger(self, appender: str = BY_FILE) -> Ledger:
        """The notes of one appender. Each object reads those of all appenders."""
        return Ledger(self.work / "ledgers" / self.name, appender)

    def fill(self) -> None:
        """Make the folder with its first batches."""
        self.root.mkdir(parents=True)
        ledger = self.ledger()
        for batch in range(0, 2 * FIRST, 2):
            with ledger.appending(batch):
                self.append(batch)


def tables(work: Path) -> list[LoadTable]:
    return [
        LoadTable(work, "flat", "parquet", partitioned=False),
        LoadTable(work, "parted", "parquet", partitioned=True),
        LoadTable(work, "flat_orc", "orc", partitioned=False),
    ]
