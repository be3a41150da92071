"""`ZOrderTable.is_plain`: whether a name is a table of ours, and if not, why not. On every Spark."""

from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_zorder import PlainCheck, ZOrderTable
from spark_zorder.errors import condition_of

pytestmark = pytest.mark.older_sparks


BELOW = "SELECT id FROM range(9)"
NOT_PLAIN = {
    "v": (f"CREATE VIEW v AS {BELOW}", "ZORDER_UNSUPPORTED_TARGET.KIND", "a view"),
    "temporary": (f"CREATE TEMPORARY VIEW temporary AS {BELOW}", "ZORDER_UNSUPPORTED_TARGET.KIND", "is a view"),
    "j": (f"CREATE TABLE j USING json AS {BELOW}", "ZORDER_UNSUPPORTED_TARGET.KIND", "json"),
    "b": (
        f"CREATE TABLE b USING parquet CLUSTERED BY (id) INTO 2 BUCKETS AS {BELOW}",
        "ZORDER_UNSAFE_TABLE.BUCKETED",
        "bucket",
    ),
    "{folder}/delta": (
        f"INSERT OVERWRITE DIRECTORY '{{folder}}/delta' USING parquet {BELOW}",
        "ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT",
        "_delta_log",
    ),
    "{folder}/c": (f"INSERT OVERWRITE DIRECTORY '{{folder}}/c' USING csv {BELOW}", "ZORDER_NOT_A_DATA_FILE", ".csv"),
    "{folder}/empty": ("SELECT 1", "ZORDER_UNSUPPORTED_TARGET.EMPTY", "file"),
    "{folder}/nothing": ("SELECT 1", "ZORDER_PATH_NOT_FOUND", "nothing"),
    "nothing": ("SELECT 1", "ZORDER_TABLE_NOT_FOUND", "`nothing`"),
}
"""For each name a statement that makes it, and the condition and a word of the refusal."""


@pytest.mark.parametrize("name", NOT_PLAIN)
def test_what_is_not_plain_says_why(spark: SparkSession, database: Path, tmp_path: Path, name: str) -> None:
    make, condition, words = NOT_PLAIN[name]
    (tmp_path / "empty").mkdir()
    spark.sql(make.format(folder=tmp_path))
    if "delta" in name:
        (tmp_path / "delta" / "_delta_log").mkdir()
        (tmp_path / "delta" / "_delta_log" / "00000000000000000000.json").write_text("{}")
    name = name.format(folder=tmp_path)
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
def test_a_plain_table_is_plain_with_or_without_index(spark: SparkSession, database: Path, file_format: str) -> None:
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
