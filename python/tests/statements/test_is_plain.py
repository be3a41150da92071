"""`ZOrderTable.is_plain`: whether a name is a table of ours, and if not, why not. On every Spark."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import PySparkException

from spark_zorder import PlainCheck, ZOrderTable
from spark_zorder.errors import condition_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.older_sparks


def view(spark: SparkSession, folder: Path) -> str:
    spark.sql("CREATE TABLE below USING parquet AS SELECT id FROM range(9)")
    spark.sql("CREATE VIEW v AS SELECT id FROM below")
    return "v"


def temporary_view(spark: SparkSession, folder: Path) -> str:
    spark.range(9).createOrReplaceTempView("temporary")
    return "temporary"


def json_table(spark: SparkSession, folder: Path) -> str:
    spark.sql("CREATE TABLE j USING json AS SELECT id FROM range(9)")
    return "j"


def bucketed(spark: SparkSession, folder: Path) -> str:
    spark.sql("CREATE TABLE b USING parquet CLUSTERED BY (id) INTO 2 BUCKETS AS SELECT id FROM range(9)")
    return "b"


def delta_folder(spark: SparkSession, folder: Path) -> str:
    spark.range(9).write.parquet(str(folder / "d"))
    (folder / "d" / "_delta_log").mkdir()
    (folder / "d" / "_delta_log" / "00000000000000000000.json").write_text("{}")
    return str(folder / "d")


def csv_folder(spark: SparkSession, folder: Path) -> str:
    spark.range(9).write.csv(str(folder / "c"))
    return str(folder / "c")


def empty_folder(spark: SparkSession, folder: Path) -> str:
    (folder / "e").mkdir()
    return str(folder / "e")


def no_folder(spark: SparkSession, folder: Path) -> str:
    return str(folder / "nothing")


def no_table(spark: SparkSession, folder: Path) -> str:
    return "nothing"


NOT_PLAIN = [
    (view, "ZORDER_UNSUPPORTED_TARGET.KIND", "a view"),
    (temporary_view, "ZORDER_UNSUPPORTED_TARGET.KIND", "is a view"),
    (json_table, "ZORDER_UNSUPPORTED_TARGET.KIND", "json"),
    (bucketed, "ZORDER_UNSAFE_TABLE.BUCKETED", "bucket"),
    (delta_folder, "ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT", "_delta_log"),
    (csv_folder, "ZORDER_NOT_A_DATA_FILE", ".csv"),
    (empty_folder, "ZORDER_UNSUPPORTED_TARGET.EMPTY", "file"),
    (no_folder, "ZORDER_PATH_NOT_FOUND", "nothing"),
    (no_table, "ZORDER_TABLE_NOT_FOUND", "`nothing`"),
]


@pytest.mark.parametrize(("make", "condition", "words"), NOT_PLAIN, ids=[make.__name__ for make, _, _ in NOT_PLAIN])
def test_what_is_not_plain_says_why(
    spark: SparkSession,
    database: Path,
    tmp_path: Path,
    make: Callable[[SparkSession, Path], str],
    condition: str,
    words: str,
) -> None:
    name = make(spark, tmp_path)
    check = ZOrderTable.is_plain(spark, name)
    assert not check
    assert check.condition == condition
    assert words in check.reason
    assert not check.reason.startswith("[")
    assert "SQLSTATE" not in check.reason
    table = ZOrderTable.for_path(spark, name) if "/" in name else ZOrderTable(spark, name)
    # The statements refuse it for the same reason.
    with pytest.raises(PySparkException) as refused:
        table.optimize(["id"], dry_run=True)
    assert condition_of(refused.value) == condition


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_a_plain_table_is_plain_with_and_without_an_index(
    spark: SparkSession, database: Path, file_format: str
) -> None:
    spark.sql(f"CREATE TABLE t USING {file_format} AS SELECT id FROM range(9)")
    before = sorted(database.rglob("*"))
    for name in ("t", f"{database.name}.t", str(database / "t"), database / "t", f"file://{database}/t"):
        assert ZOrderTable.is_plain(spark, name) == PlainCheck(True)
    assert sorted(database.rglob("*")) == before
    ZOrderTable(spark, "t").create_skipping_index()
    assert ZOrderTable.is_plain(spark, "t")


def test_what_is_no_name_is_an_error(spark: SparkSession) -> None:
    with pytest.raises(ValueError, match="not a name"):
        ZOrderTable.is_plain(spark, "a..b")
