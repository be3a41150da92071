"""The metrics of tables in Spark's metrics system, read from a sink."""

import csv
import sys
from pathlib import Path

import pytest
from processes import printed
from small_tables import SmallTable, once
from steps import PROPERTY, environment, step

pytestmark = pytest.mark.test_all

PROGRAM = """
import threading, time
from pathlib import Path
from pyspark.sql import SparkSession
from spark_zorder import configure_spark

sink = "spark.metrics.conf.*.sink.csv"
builder = (
    SparkSession.builder.master("local[1]")
    .config("spark.ui.enabled", "false")
    .config(f"{sink}.class", "org.apache.spark.metrics.sink.CsvSink")
    .config(f"{sink}.period", "1").config(f"{sink}.unit", "seconds").config(f"{sink}.directory", SINK)
)
spark = configure_spark(builder).getOrCreate()
spark.newSession().sql(f"SELECT count(*) FROM parquet.`{TABLE}`").collect()
system = spark._jvm.java.lang.System
gate = Path(GATE)
system.setProperty(PROPERTY, STEP)
optimize = f"OPTIMIZE parquet.`{TABLE}` ZORDER BY (a) OPTIONS ('num-files' = '2')"
running = threading.Thread(target=lambda: spark.sql(optimize).collect())
running.start()
while not Path(f"{gate}.reached").exists():
    time.sleep(0.01)
time.sleep(2.5)
gate.touch()
running.join()
time.sleep(1.5)
spark.sql(f"VACUUM parquet.`{TABLE}` RETAIN 0 HOURS")
spark.stop()
"""


@pytest.mark.older_sparks
def test_a_sink_gets_locks_publishing_trash_and_errors(tmp_path: Path) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned=False)
    retired = sum(f.stat().st_size for f in table.files())
    sink = tmp_path / "sink"
    sink.mkdir()
    names = {"SINK": str(sink), "TABLE": str(table.root), "GATE": str(tmp_path / "gate"), "PROPERTY": PROPERTY}
    names["STEP"] = step("retire-1", tmp_path / "gate")
    program = "".join(f"{name} = {value!r}\n" for name, value in names.items()) + PROGRAM
    printed([sys.executable, "-c", program], tmp_path, **environment())
    values = {f.stem.partition(".driver.spark_zorder.")[2]: read(f) for f in sink.glob("*.spark_zorder.*.csv")}
    counts = {"skipping.errors.count", "write.order.errors.count"}
    assert set(values) == {"locks.held", "locks.age.millis", "publishing.count", "trash.bytes"} | counts
    most_and_last = {name: (max(found), found[-1]) for name, found in values.items()}
    assert most_and_last["locks.held"] == most_and_last["publishing.count"] == (1, 0)
    assert most_and_last["trash.bytes"] == (retired, 0)
    most, last = most_and_last["locks.age.millis"]
    assert most > 500
    assert last == 0
    assert set(values["skipping.errors.count"]) == {0}
    assert table.plain_ids() == once(table.ids)


def read(file: Path) -> list[int]:
    """The values of one gauge, oldest first."""
    with file.open() as lines:
        return [int(row["value"]) for row in csv.DictReader(lines)]
