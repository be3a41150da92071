"""Adds the extension to a session before it is built."""

from __future__ import annotations

import os
import re
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from spark_zorder.artifacts import jar_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSION = "org.sparkzorder.ZOrderSparkExtension"
"""The class for `spark.sql.extensions`."""


def configure_spark(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the jar for the installed pyspark and the extension to a session builder.

    Jars and extensions that the builder or `spark-defaults.conf` already names stay. This extension goes last: Spark
    gives each statement to the last parser first, and this parser passes on all statements of others. A second call
    changes nothing.

    A builder for a Spark Connect server (`sc://..`) does not change: the server needs the jar and the extension. Nor
    does a builder of the package `pyspark-client`, which has no other sessions.

    A warning tells you when a session without the extension is running, because `getOrCreate` returns that session.

    Returns:
        The same builder.

    Raises:
        NoJarError: No jar of this package fits the installed pyspark.

    Examples:
        >>> from pyspark.sql import SparkSession
        >>> from spark_zorder import configure_spark
        >>> spark = configure_spark(SparkSession.builder).getOrCreate()
        >>> spark.conf.get("spark.sql.extensions")
        'org.sparkzorder.ZOrderSparkExtension'
    """
    options = builder._options
    if _is_remote(str(options.get("spark.remote", os.environ.get("SPARK_REMOTE", "")))) or _is_client_only():
        return builder
    _warn_of_running()
    defaults = _defaults()
    for key, value in (("spark.jars", str(jar_path())), ("spark.sql.extensions", EXTENSION)):
        present = _entries(options.get(key, defaults.get(key, "")))
        builder.config(key, ",".join([entry for entry in present if entry != value] + [value]))
    return builder


def _is_remote(url: str) -> bool:
    # `local` starts a server in this process, and this server reads the builder's settings.
    return url != "" and not url.startswith("local")


def _is_client_only() -> bool:
    from pyspark import util

    # Spark 3.5 has no such package, and no such function.
    return bool(getattr(util, "is_remote_only", bool)())


def _entries(value: object) -> list[str]:
    entries = value if isinstance(value, (list, tuple, set)) else str(value).split(",")
    return [text for text in (str(entry).strip() for entry in entries) if text]


def _defaults() -> dict[str, str]:
    """The settings of `spark-defaults.conf`. A value set on a builder replaces them, so it has to repeat them."""
    from pyspark.find_spark_home import _find_spark_home

    folder = os.environ.get("SPARK_CONF_DIR") or str(Path(_find_spark_home()) / "conf")
    file = Path(folder) / "spark-defaults.conf"
    if not file.is_file():
        return {}
    lines = (line.strip() for line in file.read_text().splitlines())
    pairs = (re.split(r"\s*[=:\s]\s*", line, maxsplit=1) for line in lines if line and line[0] not in "#!")
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def _warn_of_running() -> None:
    from pyspark.sql import SparkSession

    running = SparkSession.getActiveSession()
    # A session over Spark Connect lacks this attribute. The server has the extension there.
    if running is None or getattr(running, "_jsparkSession", None) is None:
        return
    if EXTENSION not in _entries(running.conf.get("spark.sql.extensions", "")):
        warnings.warn(
            "A session without spark-zorder is running already. getOrCreate() returns that session, and OPTIMIZE is a "
            "syntax error in it. Call stop() on it first, or add the jar and the extension where it starts. "
            "spark_zorder.doctor(spark) says what is missing.",
            stacklevel=3,
        )
