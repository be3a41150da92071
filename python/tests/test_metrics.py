"""What Spark's metrics system reports of tables."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from small_tables import SmallTable, once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def gauges(spark: SparkSession) -> dict[str, int]:
    """The values of our source, by name, as a sink reads them."""
    jvm = spark._jvm
    assert jvm is not None
    sources = jvm.org.apache.spark.SparkEnv.get().metricsSystem().getSourcesByName("spark_zorder")
    assert sources.size() == 1
    found = sources.apply(0).metricRegistry().getGauges()
    return {str(name): int(found.get(name).getValue()) for name in found.keySet()}


@pytest.mark.every_spark
def test_locks_publishing_and_trash_are_reported(spark: SparkSession, tmp_path: Path) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned=False)
    retired = sum(f.stat().st_size for f in table.files())
    table.spark_ids(spark)
    before = gauges(spark)
    assert set(before) == {
        "locks.held",
        "locks.age.millis",
        "publishing.count",
        "trash.bytes",
        "skipping.errors.count",
    }
    gate = tmp_path / "gate"
    jvm = spark._jvm
    assert jvm is not None
    jvm.java.lang.System.setProperty("spark.zorder.test.failpoint", f"retire-1:pause:{gate}")
    running = threading.Thread(target=lambda: spark.sql(table.optimize).collect())
    try:
        running.start()
        end = time.monotonic() + 60
        while not Path(f"{gate}.reached").exists():
            assert time.monotonic() < end
            time.sleep(0.01)
        during = gauges(spark)
    finally:
        gate.touch()
        running.join()
        jvm.java.lang.System.clearProperty("spark.zorder.test.failpoint")
    after = gauges(spark)
    assert during["locks.held"] == before["locks.held"] + 1
    assert during["publishing.count"] == before["publishing.count"] + 1
    assert during["locks.age.millis"] > 0
    assert after["locks.held"] == before["locks.held"]
    assert after["publishing.count"] == before["publishing.count"]
    assert after["trash.bytes"] - before["trash.bytes"] == retired
    assert after["skipping.errors.count"] == before["skipping.errors.count"]
    spark.sql(f"VACUUM {table.source} RETAIN 0 HOURS")
    assert gauges(spark)["trash.bytes"] == before["trash.bytes"]
    assert table.spark_ids(spark) == once(table.ids)


def test_the_source_is_registered_once_for_all_sessions(spark: SparkSession) -> None:
    spark.newSession().range(3).count()
    spark.newSession().range(3).count()
    assert gauges(spark)
