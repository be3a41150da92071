"""Runs statements on wide tables, beside a read of all footers by Spark."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from peers.parts.scale.measure import FOOTERS, Driver, Times, grown, ratio
from peers.results import Check

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from peers.progress import Steps
    from peers.results import Part

COLUMNS = (250, 500, 1000, 2000, 3000)
FILES = 20
CREATE = "CREATE SKIPPING INDEX"
SETTINGS = {
    "columns": f"{FILES} files of five rows and of {COLUMNS[0]} to {COLUMNS[-1]:,} columns, a third each of BIGINT, "
    "DOUBLE and STRING, written by pyarrow",
    FOOTERS: "a read of the folder with mergeSchema: all footers, no row",
}


def run(part: Part, driver: Driver, work: Path, steps: Steps) -> None:
    """Measure tables with the same files and more and more columns."""
    found = {n: _wide(driver, work / f"columns-{n}", n, steps) for n in COLUMNS}
    grown(part, "columns", "", found, FOOTERS)
    most = found[COLUMNS[-1]]
    part.checks.append(Check(f"{CREATE} / {FOOTERS}, {COLUMNS[-1]:,} columns", ratio(most, CREATE, FOOTERS), 1.5))


def _wide(driver: Driver, folder: Path, columns: int, steps: Steps) -> Times:
    steps.next(f"{columns:,} columns")
    import pyarrow as pa
    import pyarrow.parquet as pq

    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    kinds: list[Callable[[int], Any]] = [int, float, lambda x: f"v{x}"]
    table = pa.table({f"c{i}": [kinds[i % 3](x) for x in range(5)] for i in range(columns)})
    for n in range(FILES):
        pq.write_table(table, folder / f"part-{n}.parquet")
    name = f"parquet.`{folder}`"
    return driver.by_turns(
        {
            CREATE: driver.sql(f"CREATE OR REPLACE SKIPPING INDEX ON {name}"),
            "DESCRIBE SKIPPING INDEX": driver.sql(f"DESCRIBE SKIPPING INDEX ON {name}"),
            "DESCRIBE CLUSTERING of one column": driver.sql(f"DESCRIBE CLUSTERING {name} (c0)"),
            FOOTERS: lambda: driver.spark.read.option("mergeSchema", "true").parquet(str(folder)),
        }
    )
