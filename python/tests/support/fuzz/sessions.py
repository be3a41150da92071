"""Settings of sessions. An index is made under some settings and used under others."""

from random import Random

from pyspark.sql import SparkSession

FIELD_IDS = "spark.sql.parquet.fieldId.read.enabled"
"""Whether Parquet's columns are found by field ids of the current schema, before their names."""

# There are thousands of tiny queries. Compiling each would take longer than running it.
_ALWAYS = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.timeType.enabled": "true",
    "spark.zorder.memory.enabled": "true",
    # One task for all remaining files.
    "spark.sql.files.openCostInBytes": "0",
    "spark.sql.files.minPartitionNum": "1",
    # Rows are made from text in UTC. Some of their days are ancient.
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.int96RebaseModeInWrite": "CORRECTED",
}

_MAKING = {
    "spark.sql.session.timeZone": ("UTC", "UTC", "America/Los_Angeles", "Asia/Kolkata"),
    "spark.sql.ansi.enabled": ("true", "true", "false"),
    "spark.sql.caseSensitive": ("false", "false", "true"),
    "spark.sql.parquet.enableVectorizedReader": ("true", "true", "false"),
    "spark.sql.orc.enableVectorizedReader": ("true", "true", "false"),
    "spark.sql.parquet.datetimeRebaseModeInRead": ("CORRECTED", "CORRECTED", "LEGACY"),
    "spark.sql.parquet.int96RebaseModeInRead": ("CORRECTED", "LEGACY"),
    "spark.sql.parquet.outputTimestampType": ("INT96", "TIMESTAMP_MICROS", "TIMESTAMP_MILLIS"),
    "spark.sql.parquet.binaryAsString": ("false",) * 7 + ("true",),
    "spark.sql.parquet.inferTimestampNTZ.enabled": ("true",) * 7 + ("false",),
    FIELD_IDS: ("false", "false", "false", "true"),
}

_USING = {
    **_MAKING,
    FIELD_IDS: ("false", "true"),
    "spark.sql.parquet.enableNestedColumnVectorizedReader": ("true", "false"),
    "spark.sql.parquet.int96TimestampConversion": ("false",) * 7 + ("true",),
    "spark.sql.readSideCharPadding": ("true", "true", "false"),
    "spark.sql.optimizer.inSetConversionThreshold": ("10", "10", "2", "100"),
    # Spark moves casts to the other side before our rule sees them. Without this rule of Spark's, ours has to do it.
    "spark.sql.optimizer.excludedRules": (
        "",
        "",
        "org.apache.spark.sql.catalyst.optimizer.UnwrapCastInBinaryComparison",
    ),
    # Spark's own reader trusts bounds although NaN is outside of them. So mostly only our skipping is on.
    "spark.sql.parquet.filterPushdown": ("false", "false", "false", "true"),
    "spark.sql.orc.filterPushdown": ("false", "false", "false", "true"),
}


def making(r: Random, twins: bool) -> dict[str, str]:
    """Settings for writing, OPTIMIZE and the statements on indexes."""
    # With it, a rewrite turns binaries into strings. Other engines refuse those that are not UTF-8.
    return {**_drawn(r, _MAKING, twins), "spark.sql.parquet.binaryAsString": "false"}


def using(r: Random, twins: bool) -> dict[str, str]:
    return _drawn(r, _USING, twins)


def apply(spark: SparkSession, values: dict[str, str]) -> None:
    for name, value in values.items():
        spark.conf.set(name, value)


def _drawn(r: Random, choices: dict[str, tuple[str, ...]], twins: bool) -> dict[str, str]:
    drawn = {name: r.choice(values) for name, values in choices.items()}
    if twins:
        # Otherwise names that differ in case only are ambiguous, for Spark as well.
        drawn["spark.sql.caseSensitive"] = "true"
    return {**_ALWAYS, **drawn}
