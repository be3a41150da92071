"""Putting the extension into a session that is about to be built."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_zorder.artifacts import jar_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

EXTENSION = "org.sparkzorder.ZOrderSparkExtension"
"""The class to name in `spark.sql.extensions`."""


def configure_spark(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Add the jar for the installed pyspark and the extension to a session builder.

    What the builder has been given for `spark.jars` and `spark.sql.extensions` is kept. Ours goes last: parsers
    nest in that order, and the last one reads a statement first and hands on what is not its own. Calling this twice is
    the same as once. A value in `spark-defaults.conf` is not seen from here, and any value on a builder replaces it:
    name such jars and extensions on the builder too.

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
    for key, value in (("spark.jars", str(jar_path())), ("spark.sql.extensions", EXTENSION)):
        present = [entry.strip() for entry in str(options.get(key, "")).split(",")]
        builder.config(key, ",".join([entry for entry in present if entry not in ("", value)] + [value]))
    return builder
