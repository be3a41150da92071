"""Footers that count fewer nulls than there are."""

from pathlib import Path

import pyarrow as pa
import pytest
from comparison import settings
from pyarrow import parquet
from pyspark.sql import SparkSession
from signed_files import signed_by


@pytest.mark.parametrize("writer", [None, "DuckDB", "parquet-rs version 55.0.0", "unknown"])
def test_null_structs_above_dictionaries_are_uncounted(spark: SparkSession, tmp_path: Path, writer: str | None) -> None:
    words = pa.array(["a", "b", "a", "b"]).dictionary_encode()
    for n, nulls in enumerate(([True, False, False, True], [False] * 4)):
        struct = pa.StructArray.from_arrays([words], names=["d"], mask=pa.array(nulls))
        parquet.write_table(pa.table({"id": range(4 * n, 4 * n + 4), "s": struct}), tmp_path / f"{n}.parquet")
    claimed = parquet.read_metadata(tmp_path / "0.parquet").row_group(0).column(1).statistics.null_count
    assert claimed == 0, "pyarrow counts them now: the test has lost its subject"
    if writer:
        # Any other writer may count like this.
        for n in range(2):
            signed_by(tmp_path / f"{n}.parquet", writer)
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{tmp_path}`")
    # Spark's own reader believes the footer.
    with settings(spark, spark_sql_parquet_filterPushdown="false"):
        for condition in ("s IS NULL", "s.d IS NULL"):
            rows = spark.sql(f"SELECT id FROM parquet.`{tmp_path}` WHERE {condition} ORDER BY id").collect()
            assert [row.id for row in rows] == [0, 3], condition
