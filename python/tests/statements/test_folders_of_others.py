"""Folders of other engines that are named by their path, and what a rewrite leaves for readers by path."""

from pathlib import Path

import pyarrow as pa
import pytest
from comparison import refused
from pyarrow import orc, parquet
from pyspark.sql import SparkSession

ROWS = pa.table({"id": pa.array(range(100), pa.int64())})


def iceberg(table: Path) -> Path:
    (table / "metadata").mkdir(parents=True)
    (table / "metadata" / "v1.metadata.json").write_text("{}")
    return table / "data"


def paimon(table: Path) -> Path:
    for name in ("snapshot", "manifest", "schema"):
        (table / name).mkdir(parents=True)
    return table


@pytest.mark.parametrize("make", [iceberg, paimon])
def test_data_folders_of_other_formats(spark: SparkSession, tmp_path: Path, make: type) -> None:
    folder: Path = make(tmp_path / "t")
    folder.mkdir(exist_ok=True)
    parquet.write_table(ROWS, folder / "part-0.parquet")
    found, _ = refused(spark, f"OPTIMIZE parquet.`{folder}` ZORDER BY (id)")
    assert found == "ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT"


@pytest.mark.parametrize(
    "name", ["20260101_000000_00000_abcde_bucket-00003.orc", "base_0000005/bucket_00000", "delta_1_1/bucket_00001_0"]
)
def test_buckets_of_trino_and_of_transactional_tables(spark: SparkSession, tmp_path: Path, name: str) -> None:
    file = tmp_path / "t" / "p=1" / name
    file.parent.mkdir(parents=True)
    orc.write_table(ROWS, str(file))
    found, _ = refused(spark, f"OPTIMIZE orc.`{tmp_path}/t` ZORDER BY (id)")
    assert found == "ZORDER_UNSAFE_TABLE.BUCKET_FILE", found


def test_a_char_column_is_not_padded_by_its_path(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    for n in range(2):
        parquet.write_table(pa.table({"id": [n], "c": ["a"]}), tmp_path / "t" / f"{n}.parquet")
    spark.sql(f"CREATE TABLE t (id BIGINT, c CHAR(5)) USING parquet LOCATION '{tmp_path}/t'")
    spark.sql("OPTIMIZE t ZORDER BY (id) OPTIONS ('num-files' = '2')")
    by_path = spark.read.parquet(str(tmp_path / "t"))
    assert {row[0] for row in by_path.selectExpr("length(c)").collect()} == {1}
    assert by_path.where("c = 'a'").count() == 2
    assert spark.table("t").where("c = 'a'").count() == 2
