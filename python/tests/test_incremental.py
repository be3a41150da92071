"""OPTIMIZE of a table to which rows were added: what is rewritten, and what is left as it was."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

FORMATS = pytest.mark.parametrize("file_format", ["parquet", "orc"])
ROWS = 120_000
FILES = 40


def rows(start: int, count: int, shift: int = 0) -> str:
    """Rows of three keys that have nothing to do with each other."""
    keys = ", ".join(f"{shift} + pmod(hash(id, {k}), 100000) AS {k}" for k in "abc")
    keys = (
        keys.replace("hash(id, a)", "hash(id, 1)")
        .replace("hash(id, b)", "hash(id, 2)")
        .replace("hash(id, c)", "hash(id, 3)")
    )
    return f"SELECT /*+ REPARTITION(2) */ id, {keys} FROM range({start}, {start + count})"


def files(folder: Path) -> dict[str, int]:
    """Data files and their sizes."""
    return {p.name: p.stat().st_size for p in folder.iterdir() if p.is_file() and p.name[0] not in "._"}


class Table:
    """A clustered table, its files of a size so that there are about forty."""

    def __init__(
        self, spark: SparkSession, folder: Path, file_format: str, clause: str = "ZORDER BY (a, b, c)"
    ) -> None:
        self.spark, self.folder, self.clause = spark, folder / "t", clause
        spark.sql(f"CREATE TABLE t USING {file_format} AS {rows(0, ROWS)}")
        self.rows = ROWS
        self.target = sum(files(self.folder).values()) // FILES
        self.first = self.optimize("FULL")

    def optimize(self, full: str = "") -> Row:
        """The metrics of OPTIMIZE with the same layout and target each time."""
        options = f"OPTIONS ('target-file-size-bytes' = '{self.target}')"
        [result] = self.spark.sql(f"OPTIMIZE t {full} {self.clause} {options}").collect()
        metrics: Row = result["metrics"]
        return metrics

    def add(self, share: float, shift: int = 0) -> None:
        """Rows that are this share of all rows then."""
        count = round(self.rows * share / (1 - share))
        self.spark.sql(f"INSERT INTO t {rows(self.rows, count, shift)}")
        self.rows += count

    def check(self) -> None:
        """Every row once."""
        [found] = self.spark.sql("SELECT count(*) AS n, count(DISTINCT id) AS ids, max(id) AS last FROM t").collect()
        assert tuple(found) == (self.rows, self.rows, self.rows - 1)


@FORMATS
@pytest.mark.parametrize("curve", ["ZORDER", "HILBERT"])
def test_new_rows_rewrite_a_part_of_the_table(
    spark: SparkSession, database: Path, file_format: str, curve: str
) -> None:
    table = Table(spark, database, file_format, f"{curve} BY (a, b, c)")
    assert table.first["strategy"]["name"] == "full"
    assert "full rewrite was asked for" in table.first["strategy"]["reason"]
    for _ in range(2):
        table.add(0.05)
        before = files(table.folder)
        metrics = table.optimize()
        strategy = metrics["strategy"]
        assert strategy["name"] == "incremental", strategy
        assert 0 <= strategy["drift"] < 0.2
        after = files(table.folder)
        # What was written holds 15 % of the rows; new files are written by others, and may be larger or smaller.
        assert metrics["filesAdded"]["totalSize"] <= 0.17 * sum(after.values())
        assert metrics["filesRemoved"]["totalSize"] <= 0.17 * sum(before.values())
        assert len(before.keys() & after.keys()) >= 0.7 * len(before)
        means = {c["column"]: (c["meanFilesBefore"], c["meanFilesAfter"]) for c in metrics["clustering"]}
        # Before, every lookup read both new files, as few as there can be.
        assert sum(new for _, new in means.values()) < 1.1 * sum(old for old, _ in means.values()), means
        table.check()
        assert table.optimize()["strategy"]["name"] == "none"
    [newest, *_] = spark.sql("DESCRIBE HISTORY t").collect()
    assert newest["operationMetrics"]["strategy"] == "incremental"
    assert "% of the bytes are new" in newest["operationMetrics"]["strategyReason"]
    for a in (17, 40_000, 99_999):
        query = f"SELECT * FROM t WHERE a BETWEEN {a} AND {a + 500} AND b > 50000 ORDER BY id"
        found = spark.sql(query).collect()
        spark.conf.set("spark.zorder.skipping.enabled", "false")
        assert spark.sql(query).collect() == found
        spark.conf.unset("spark.zorder.skipping.enabled")


def test_a_lookup_reads_little_more_than_after_a_full_rewrite(spark: SparkSession, database: Path) -> None:
    table = Table(spark, database, "parquet")
    table.add(0.05)
    table.optimize()

    def mean() -> float:
        found = spark.sql("DESCRIBE CLUSTERING t (a, b, c)").collect()
        return sum(float(r["mean_files"]) for r in found) / 3

    incremental = mean()
    table.optimize("FULL")
    assert incremental <= 1.25 * mean()


def test_rows_beyond_all_boundaries_become_files_of_their_own(spark: SparkSession, database: Path) -> None:
    table = Table(spark, database, "parquet", "ORDER BY (a)")
    before = files(table.folder)
    table.add(0.05, shift=1_000_000)
    metrics = table.optimize()
    assert metrics["strategy"]["name"] == "incremental"
    assert "beyond the boundaries" in metrics["strategy"]["reason"]
    assert before.items() <= files(table.folder).items()
    table.check()
    assert table.optimize()["numFilesAdded"] == 0


def test_without_the_index_everything_is_rewritten_and_the_result_says_why(spark: SparkSession, database: Path) -> None:
    table = Table(spark, database, "parquet")
    table.add(0.05)
    spark.sql("DROP SKIPPING INDEX ON t")
    metrics = table.optimize()
    assert metrics["strategy"]["name"] == "full"
    assert "it is not known where files lie" in metrics["strategy"]["reason"]
    assert metrics["totalFilesSkipped"] == 0
    table.check()


def test_many_new_rows_are_a_reason_to_rewrite_all(spark: SparkSession, database: Path) -> None:
    table = Table(spark, database, "parquet")
    table.add(0.3)
    metrics = table.optimize()
    assert metrics["strategy"]["name"] == "full"
    assert "of the bytes are new" in metrics["strategy"]["reason"]
    table.check()


def test_a_new_index_keeps_what_is_known_of_the_curve(spark: SparkSession, database: Path) -> None:
    table = Table(spark, database, "parquet")
    spark.sql("CREATE OR REPLACE SKIPPING INDEX ON t (a, b)")
    table.add(0.05)
    spark.sql("REFRESH SKIPPING INDEX ON t")
    assert table.optimize()["strategy"]["name"] == "incremental"
    table.check()


def test_a_cell_that_somebody_deleted_is_no_obstacle(spark: SparkSession, database: Path) -> None:
    table = Table(spark, database, "parquet")
    table.add(0.05)
    lost = sorted(files(table.folder))[3]
    (table.folder / lost).unlink()
    (table.folder / f".{lost}.crc").unlink(missing_ok=True)
    spark.sql("REFRESH TABLE t")
    [before] = spark.sql("SELECT count(*), sum(hash(*)) FROM t").collect()
    assert table.optimize()["strategy"]["name"] == "incremental"
    assert spark.sql("SELECT count(*), sum(hash(*)) FROM t").collect() == [before]
