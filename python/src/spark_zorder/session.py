"""Putting the extension into a session that is about to be built."""

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
"""The class to name in `spark.sql.extensions`."""


def configure_spark(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the jar for the installed pyspark and the extension to a session builder.

    What the builder, or else `spark-defaults.conf`, says for `spark.jars` and `spark.sql.extensions` is kept. Ours goes
    last: parsers nest in that order, and the last one reads a statement first and hands on what is not its own. Calling
    this twice is the same as once.

    A builder for a Spark Connect server (`sc://..`) is left as it is: the server has to have jar and extension. When a
    session without the extension is running already, a warning says so, as `getOrCreate` returns that session.

    Returns:
        The same builder.

    Raises:
        NoJarError: no jar of this package fits the installed pyspark.

    Example:
        >>> from pyspark.sql import SparkSession
        >>> from spark_zorder import configure_spark
        >>> spark = configure_spark(SparkSession.builder).getOrCreate()  # doctest: +SKIP
    """
    options = builder._options
    if _is_remote(str(options.get("spark.remote", os.environ.get("SPARK_REMOTE", "")))):
        return builder
    _warn_of_running()
    defaults = _defaults()
    for key, value in (("spark.jars", str(jar_path())), ("spark.sql.extensions", EXTENSION)):
        present = _entries(options.get(key, defaults.get(key, "")))
        builder.config(key, ",".join([entry for entry in present if entry != value] + [value]))
    return builder


def _is_remote(url: str) -> bool:
    # `local` starts a server here, which takes the builder's settings.
    return url != "" and not url.startswith("local")


def _entries(value: object) -> list[str]:
    entries = value if isinstance(value, (list, tuple, set)) else str(value).split(",")
    return [text for text in (str(entry).strip() for entry in entries) if text]


def _defaults() -> dict[str, str]:
    """What `spark-defaults.conf` says; any value on a builder would replace it."""
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
    # Over Spark Connect there is no such attribute, and the extension is the server's.
    if running is None or getattr(running, "_jsparkSession", None) is None:
        return
    if EXTENSION not in _entries(running.conf.get("spark.sql.extensions", "")):
        warnings.warn(
            "A session without spark-zorder is running already. getOrCreate() returns that one, in which OPTIMIZE is a "
            "syntax error. Call stop() on it first, or give it the jar and the extension where it is started.",
            stacklevel=3,
        )
