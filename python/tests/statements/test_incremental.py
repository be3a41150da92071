"""OPTIMIZE of a table with added rows: which files it rewrites, and which it leaves."""

from pathlib import Path

import pytest
from comparison import no_skipping
from pyspark.sql import Row, SparkSession

pytestmark = pytest.mark.test_all

ROWS = 120_000
FILES = 40


def rows(start: int, count: int, shift: int = 0) -> str:
    """Rows with three independent keys."""
    keys = ", ".join(f"{shift} + pmod(hash(id, {n}), 100000) AS {k}" for n, k in enumerate("abc", 1))
    return f"SELECT /*+ REPARTITION(2) */ id, {keys} FROM range({start}, {start + count})"


def files(folder: Path) -> dict[str, int]:
    return {p.name: p.stat().st_size for p in folder.iterdir() if p.is_file() and p.name[0] not in "._"}


class Table:
    """A clustered table of about forty files."""

    def __init__(
        self, spark: SparkSession, folder: Path, file_format: str, clause: str = "ZORDER BY (a, b, c)", more: str = ""
    ) -> None:
        self.spark, self.folder, self.clause, self.more = spark, folder / "t", clause, more
        spark.sql(f"CREATE TABLE t USING {file_format} AS {rows(0, ROWS)}")
        self.rows = ROWS
        self.target = sum(files(self.folder).values()) // FILES
        self.first = self.optimize("FULL")

    def optimize(self, full: str = "") -> Row:
        """Run OPTIMIZE with the same layout and target size each time, and return its metrics."""
        given = [f"'target-file-size-bytes' = '{self.target}'", *filter(None, [self.more])]
        options = f"OPTIONS ({', '.join(given)})"
        [result] = self.spark.sql(f"OPTIMIZE t {full} {self.clause} {options}").collect()
        metrics: Row = result["metrics"]
        return metrics

    def add(self, share: float, shift: int = 0) -> None:
        """Add rows. They are this share of all rows then."""
        count = round(self.rows * share / (1 - share))
        self.spark.sql(f"INSERT INTO t {rows(self.rows, count, shift)}")
        self.rows += count

    def check(self) -> None:
        [found] = self.spark.sql("SELECT count(*) AS n, count(DISTINCT id) AS ids, max(id) AS last FROM t").collect()
        assert tuple(found) == (self.rows, self.rows, self.rows - 1)


@pytest.mark.parametrize("file_format", ["parquet", "orc"])
@pytest.mark.parametrize("curve", ["ZORDER", "HILBERT"])
def test_new_rows_rewrite_a_part_only(spark: SparkSession, database: Path, file_format: str, curve: str) -> None:
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
        # The outputs have 15 % of the rows. Another program wrote the new files, so their sizes may differ.
        assert metrics["filesAdded"]["totalSize"] <= 0.17 * sum(after.values())
        assert metrics["filesRemoved"]["totalSize"] <= 0.17 * sum(before.values())
        assert len(before.keys() & after.keys()) >= 0.7 * len(before)
        means = {c["column"]: (c["meanFilesBefore"], c["meanFilesAfter"]) for c in metrics["clustering"]}
        # Before, every lookup read both new files. That is the least possible.
        assert sum(new for _, new in means.values()) < 1.1 * sum(old for old, _ in means.values()), means
        table.check()
        assert table.optimize()["strategy"]["name"] == "none"
    [newest, *_] = spark.sql("DESCRIBE HISTORY t").collect()
    assert newest["operationMetrics"]["strategy"] == "incremental"
    assert "% of the bytes are new" in newest["operationMetrics"]["strategyReason"]
    for a in (17, 40_000, 99_999):
        query = f"SELECT * FROM t WHERE a BETWEEN {a} AND {a + 500} AND b > 50000 ORDER BY id"
        found = spark.sql(query).collect()
        with no_skipping(spark):
            assert spark.sql(query).collect() == found


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


def test_files_beyond_all_boundaries_do_not_pile_up(spark: SparkSession, database: Path) -> None:
    table = Table(spark, database, "parquet", "ORDER BY (a)")
    before = files(table.folder)
    written = 0
    for day in range(1, 11):
        table.add(0.002, shift=1_000_000 * day)
        metrics = table.optimize()
        assert metrics["strategy"]["name"] == "incremental"
        written += metrics["filesAdded"]["totalSize"]
        assert before.items() <= files(table.folder).items()
        assert len(files(table.folder)) <= len(before) + 3
    assert written <= 0.15 * sum(before.values())
    table.check()


def test_new_rows_within_and_beyond_the_boundaries_have_their_files(spark: SparkSession, database: Path) -> None:
    table = Table(spark, database, "parquet")
    table.add(0.02)
    table.add(0.02, shift=1_000_000)
    metrics = table.optimize()
    assert metrics["strategy"]["name"] == "incremental"
    assert "merged with new rows" in metrics["strategy"]["reason"]
    assert "beyond the boundaries" in metrics["strategy"]["reason"]
    assert metrics["strategy"]["drift"] < 0.2
    assert metrics["partitionsOptimized"] == 1
    table.check()
    query = "SELECT min(a) >= 1000000 AS beyond, max(a) >= 1000000 AS reaches FROM t GROUP BY _metadata.file_name"
    sides = [tuple(row) for row in spark.sql(query).collect()]
    assert (False, True) not in sides
    assert (True, True) in sides
    assert table.optimize()["strategy"]["name"] == "none"


@pytest.mark.parametrize("cuts", ["aligned", "equal"])
def test_a_limit_of_the_rows_of_a_file_is_no_obstacle(spark: SparkSession, database: Path, cuts: str) -> None:
    spark.conf.set("spark.sql.files.maxRecordsPerFile", "700")
    table = Table(spark, database, "parquet", "ZORDER BY (a, b, c)", f"'cuts' = '{cuts}'")
    first = len(files(table.folder))
    assert first > 3 * FILES
    for _ in range(4):
        table.add(0.04)
        before = files(table.folder)
        metrics = table.optimize()
        assert metrics["strategy"]["name"] == "incremental", metrics["strategy"]
        assert metrics["filesAdded"]["totalSize"] <= 0.2 * sum(before.values())
        assert table.optimize()["strategy"]["name"] == "none"
        table.check()
    [most] = spark.sql("SELECT count(*) AS n FROM t GROUP BY _metadata.file_name ORDER BY n DESC LIMIT 1").collect()
    assert most["n"] <= 700
    # The number of files grows with the rows, and some more are begun.
    assert len(files(table.folder)) < 1.5 * first


def test_many_new_rows_are_a_reason_to_rewrite_all(spark: SparkSession, database: Path) -> None:
    table = Table(spark, database, "parquet")
    table.add(0.3)
    metrics = table.optimize()
    assert metrics["strategy"]["name"] == "full"
    assert "of the bytes are new" in metrics["strategy"]["reason"]
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
