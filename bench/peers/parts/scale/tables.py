"""Makes tables of many small files with Spark's file names. Each file has its own values."""

from __future__ import annotations

import io
import shutil
import uuid
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

ROWS = 3
FILES_OF_A_JOB = 100
BOUND_BYTES = 2 * 8 + 2 * 8
"""The smallest and largest value of a BIGINT, and of strings of eight characters."""


def make(folder: Path, files: int, partitions: int) -> Path:
    """Write files of three rows. Without partitions all of them are in the table's folder."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for p in range(partitions):
        (folder / f"p={p}").mkdir()
    for n in range(files):
        ids = range(n * ROWS, (n + 1) * ROWS)
        out = io.BytesIO()
        pq.write_table(pa.table({"a": list(ids), "b": [f"v{i:07}" for i in ids]}), out)
        job = uuid.UUID(int=(n // FILES_OF_A_JOB + 1) << 64)
        name = f"part-{n % FILES_OF_A_JOB:05}-{job}-c000.snappy.parquet"
        (folder / f"p={n % partitions}" / name if partitions else folder / name).write_bytes(out.getvalue())
    return folder


def shape(partitions: int) -> str:
    """Describe the shape in words."""
    return f"{partitions:,} partitions" if partitions else "flat"
