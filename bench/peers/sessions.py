"""Makes Spark sessions with every engine in them. Each engine has the settings that its own documentation advises."""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]
OURS = "org.sparkzorder.ZOrderSparkExtension"
EXTENSIONS = (
    "io.delta.sql.DeltaSparkSessionExtension",
    "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions",
    OURS,
)
SETTINGS = {
    # One codec for all. Iceberg's default is another one.
    "spark.sql.parquet.compression.codec": "snappy",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.databricks.delta.optimize.zorder.fastInterleaveBits.enabled": "true",
    "spark.databricks.delta.properties.defaults.enableDeletionVectors": "false",
    "spark.sql.catalogImplementation": "in-memory",
}


@dataclass(frozen=True)
class Place:
    """Where a session runs, and what it may use."""

    work: Path
    jar: Path
    cores: int
    heap: str


@dataclass(frozen=True)
class Setting(Place):
    """The settings of a run."""

    tpchgen: Path
    scale: float
    rounds: int
    beside: str
    queries: int
    small_files: int
    index_files: int
    rows: int
    sbt: str

    @staticmethod
    def of(given: argparse.Namespace) -> Setting:
        """The settings as arguments."""
        return Setting(**{name: getattr(given, name) for name in Setting.__dataclass_fields__})


def jars(ours: Path, *groups: str) -> str:
    """Our jar and those that `make` fetched for these groups of `tools/jars.txt`, with commas between."""
    return ",".join([str(ours), *(str(jar) for group in groups for jar in fetched(group))])


def fetched(group: str) -> list[Path]:
    """The jars that `make` fetched for a group of `tools/jars.txt`."""
    return sorted((ROOT / "build" / "fetched" / group).glob("*.jar"))


def start(setting: Place, events: Path | None = None, **more: str) -> SparkSession:
    """Make a session with the extensions of Delta, Iceberg and ours. Iceberg's tables are in the catalog `ice`."""
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(f"local[{setting.cores}]")
        .config("spark.jars", jars(setting.jar, "delta", "iceberg"))
        .config("spark.sql.extensions", ",".join(EXTENSIONS))
        .config("spark.sql.catalog.spark_catalog", "org.apache.spark.sql.delta.catalog.DeltaCatalog")
        .config("spark.sql.catalog.ice", "org.apache.iceberg.spark.SparkCatalog")
        .config("spark.sql.catalog.ice.type", "hadoop")
        .config("spark.sql.catalog.ice.warehouse", str(setting.work / "ice"))
        .config("spark.sql.warehouse.dir", str(setting.work / "warehouse"))
        .config("spark.driver.memory", setting.heap)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # Queries come again and again here, and are to measure layouts and statistics.
        .config("spark.zorder.memory.enabled", "false")
    )
    for key, value in SETTINGS.items():
        builder.config(key, value)
    if events is not None:
        events.mkdir(parents=True, exist_ok=True)
        builder.config("spark.eventLog.enabled", "true").config("spark.eventLog.dir", events.as_uri())
        builder.config("spark.eventLog.rolling.enabled", "false").config("spark.eventLog.compress", "false")
    for key, value in more.items():
        builder.config(key.replace("_", "."), value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def settle(spark: SparkSession) -> None:
    """Prepare a measurement: collect garbage, and flush earlier writes to the disk."""
    import os

    jvm: Any = spark._jvm
    jvm.System.gc()
    os.sync()


def seconds(work: Any) -> float:
    """The seconds that a call takes."""
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def alone(setting: Setting) -> SparkSession:
    """Make a session with our extension alone."""
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master(f"local[{setting.cores}]")
        .config("spark.jars", str(setting.jar))
        .config("spark.sql.extensions", OURS)
        .config("spark.sql.warehouse.dir", str(setting.work / "warehouse"))
        .config("spark.driver.memory", setting.heap)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # Queries come again and again here, and are to measure layouts and statistics.
        .config("spark.zorder.memory.enabled", "false")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    return spark
