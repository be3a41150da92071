"""Starts a session with the extension for the measurements beside this file."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from pyspark.sql import SparkSession


def start(jar: Path, memory: str, settings: Mapping[str, str] | None = None) -> SparkSession:
    """Start a session on two cores, with this heap and further settings."""
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.jars", str(jar))
        .config("spark.sql.extensions", "org.sparkzorder.ZOrderSparkExtension")
        .config("spark.driver.memory", memory)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        # Queries come again and again here, and are to measure layouts and statistics.
        .config("spark.zorder.memory.enabled", "false")
    )
    for key, value in (settings or {}).items():
        builder = builder.config(key, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session
