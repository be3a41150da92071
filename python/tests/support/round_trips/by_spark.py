"""Spark as a writer and as a reader."""

from pathlib import Path

import pyarrow as pa
from pyspark.sql import SparkSession

from round_trips.seen import Seen

OF_ITS_OWN = {
    "months": "make_ym_interval(k % 178000, k % 12)",
    "period": "make_dt_interval(k % 100, 23, 59, -59.999999)",
    "chars": "CAST(concat('ü', k) AS CHAR(7))",
    "varchars": "CAST(concat('ü', k) AS VARCHAR(7))",
    "months_lsm": "array(struct(map('a', make_ym_interval(0, k))), NULL)",
    "period_mls": "map('a', array(struct(make_dt_interval(k))))",
}
"""Columns of types that other writers do not have."""


def write(spark: SparkSession, source: Path, folder: Path, form: str) -> None:
    """Write what Spark reads in a folder of Parquet files, and columns of types of its own, into two files."""
    rows = spark.read.parquet(str(source))
    own = [f"IF(k % 7 = 3, NULL, {expression}) AS {name}" for name, expression in OF_ITS_OWN.items()]
    rows.selectExpr("*", *own).repartition(2).write.format(form).save(str(folder))


def read(spark: SparkSession, folder: Path, form: str) -> Seen:
    rows = spark.read.format(form).load(str(folder))
    # Arrow has no such types, or Spark does not give it theirs.
    texts = [f"CAST(`{n}` AS STRING) AS `{n}`" if "interval" in kind else f"`{n}`" for n, kind in rows.dtypes]
    table = rows.selectExpr(*texts).toArrow()
    assert isinstance(table, pa.Table)
    return Seen.of(table, dict(rows.dtypes))
