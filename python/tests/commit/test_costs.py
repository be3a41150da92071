"""The costs of a statement in listings and in written bytes."""

from __future__ import annotations

import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import SUPPORT
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

FORMATS = pytest.mark.parametrize("file_format", ["parquet", "orc"])


def data_files(folder: Path) -> dict[str, int]:
    """The data files of a flat table, with their sizes."""
    return {p.name: p.stat().st_size for p in folder.iterdir() if p.is_file() and p.name[0] not in "._"}


def side_files(folder: Path) -> dict[str, int]:
    """Everything in the side folder, with its times."""
    return {str(p): p.stat().st_mtime_ns for p in (folder / "_zorder").rglob("*")}


def listed_by(spark: SparkSession, statement: str) -> int:
    """The number of files that Spark lists for a statement. Each listing counts all files of the table."""
    metrics = spark._jvm.org.apache.spark.metrics.source.HiveCatalogMetrics  # type: ignore[union-attr]
    counter = metrics.METRIC_FILES_DISCOVERED()
    before = counter.getCount()
    spark.sql(statement).collect()
    return int(counter.getCount() - before)


def insert(spark: SparkSession, name: str, start: int, count: int, parts: int = 1) -> None:
    """Rows with two independent keys."""
    spark.sql(
        f"INSERT INTO {name} SELECT /*+ REPARTITION({parts}) */ id, pmod(hash(id, 1), 100000) AS a, "
        f"pmod(hash(id, 2), 100000) AS b FROM range({start}, {start + count})"
    )


@FORMATS
@pytest.mark.parametrize("partitioned", [False, True])
def test_a_statement_lists_the_table_once(
    spark: SparkSession, database: Path, file_format: str, partitioned: bool
) -> None:
    by = "PARTITIONED BY (p)" if partitioned else ""
    spark.sql(f"CREATE TABLE t (id BIGINT, a INT, p INT) USING {file_format} {by}")
    spark.sql("INSERT INTO t SELECT /*+ REPARTITION(8) */ id, CAST(id AS INT), CAST(id % 2 AS INT) FROM range(80)")
    spark.sql("CREATE SKIPPING INDEX ON t")
    files = sum(1 for p in (database / "t").rglob(f"*.{file_format}") if "_zorder" not in p.parts)
    by_path = f"{file_format}.`{database / 't'}`"
    for name in ("t", by_path):
        assert listed_by(spark, f"REFRESH SKIPPING INDEX ON {name}") == files, name
        assert listed_by(spark, f"DESCRIBE SKIPPING INDEX ON {name}") == files, name
        assert listed_by(spark, f"DESCRIBE CLUSTERING {name}") == files, name
        assert listed_by(spark, f"DESCRIBE DETAIL {name}") == files, name
        assert listed_by(spark, f"DESCRIBE HISTORY {name}") == 0, name
        assert listed_by(spark, f"VACUUM {name} DRY RUN") == files, name
    spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '4')")
    files = sum(1 for p in (database / "t").rglob(f"*.{file_format}") if "_zorder" not in p.parts)
    for name in ("t", by_path):
        assert listed_by(spark, f"OPTIMIZE {name} ZORDER BY (a) OPTIONS ('num-files' = '4')") == files, name


@FORMATS
def test_a_refresh_with_nothing_new_writes_nothing(spark: SparkSession, database: Path, file_format: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, a INT, b INT) USING {file_format}")
    insert(spark, "t", 0, 100, 4)
    spark.sql("CREATE SKIPPING INDEX ON t")
    before = side_files(database / "t")
    spark.sql("REFRESH SKIPPING INDEX ON t")
    assert side_files(database / "t") == before
    # A deleted file and a new one make a difference.
    insert(spark, "t", 100, 10)
    spark.sql("REFRESH SKIPPING INDEX ON t")
    assert side_files(database / "t") != before
    statuses = spark.sql("DESCRIBE SKIPPING INDEX ON t").select("path", "status").distinct().collect()
    assert len(statuses) == 5
    assert {s["status"] for s in statuses} == {"indexed"}
    before = side_files(database / "t")
    next((database / "t").glob(f"*.{file_format}")).unlink()
    spark.sql("REFRESH SKIPPING INDEX ON t")
    assert side_files(database / "t") != before


def test_a_refresh_forgets_what_is_to_be_kept_out(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a INT, b INT) USING parquet")
    insert(spark, "t", 0, 100, 4)
    spark.sql("CREATE SKIPPING INDEX ON t (id, a)")
    # The index has no statistics of b, but the folder must record that it is excluded.
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'b')")
    spark.sql("REFRESH SKIPPING INDEX ON t")
    spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON parquet.`{database / 't'}`")
    columns = spark.sql("DESCRIBE SKIPPING INDEX ON t").select("column").distinct().collect()
    assert {c["column"] for c in columns} == {"id", "a"}
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'b, a')")
    spark.sql("REFRESH SKIPPING INDEX ON t")
    columns = spark.sql("DESCRIBE SKIPPING INDEX ON t").select("column").distinct().collect()
    assert {c["column"] for c in columns} == {"id"}


@FORMATS
@pytest.mark.parametrize("files", [1, 2, 5])
def test_small_additions_to_a_small_table_cost_in_proportion(
    spark: SparkSession, database: Path, file_format: str, files: int
) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, a INT, b INT) USING {file_format}")
    rows = 60_000
    insert(spark, "t", 0, rows, 3)
    spark.sql(f"OPTIMIZE t ZORDER BY (a, b) OPTIONS ('num-files' = '{files}')")
    assert len(data_files(database / "t")) == pytest.approx(files, abs=1)
    written = fresh = 0
    for _ in range(8):
        before = data_files(database / "t")
        insert(spark, "t", rows, 600)
        rows += 600
        fresh += sum(size for name, size in data_files(database / "t").items() if name not in before)
        [result] = spark.sql("OPTIMIZE t").collect()
        assert result["metrics"]["strategy"]["name"] == "incremental", result["metrics"]["strategy"]
        written += result["metrics"]["filesAdded"]["totalSize"]
        assert len(data_files(database / "t")) <= files + 5
    # A full rewrite each time would write a hundred times the new rows.
    assert written <= 8 * fresh
    [found] = spark.sql("SELECT count(*) AS n, count(DISTINCT id) AS ids FROM t").collect()
    assert tuple(found) == (rows, rows)


def test_the_size_of_files_is_remembered(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a INT, b INT) USING parquet")
    insert(spark, "t", 0, 100_000, 4)
    spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '64')")
    first = len(data_files(database / "t"))
    assert first == pytest.approx(64, rel=0.15)
    start = 100_000
    for statement in ("OPTIMIZE t", "OPTIMIZE t ZORDER BY (a)", "OPTIMIZE t"):
        insert(spark, "t", start, 1000)
        start += 1000
        [result] = spark.sql(statement).collect()
        assert result["metrics"]["strategy"]["name"] == "incremental", result["metrics"]["strategy"]
        assert first <= len(data_files(database / "t")) <= first + 5
    [newest, *_] = spark.sql("DESCRIBE HISTORY t").collect()
    assert newest["operationParameters"]["num-files"] == "64"
    # All files in one rewrite, of the same size.
    spark.sql("OPTIMIZE t FULL")
    assert len(data_files(database / "t")) == pytest.approx(first, rel=0.2)
    # Another layout is a new decision, and a size that is set counts.
    spark.sql("OPTIMIZE t ZORDER BY (b)")
    assert len(data_files(database / "t")) == 1
    spark.sql("OPTIMIZE t FULL ZORDER BY (a) OPTIONS ('num-files' = '8')")
    spark.sql("OPTIMIZE t FULL ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '256MB')")
    assert len(data_files(database / "t")) == 1


EXCHANGES = """
import sys
from local_session import local_session
from pathlib import Path
spark = local_session(Path(sys.argv[1]))
print("ready", flush=True)
n = 0
while not Path(sys.argv[3]).exists():
    n += 1
    spark.sql(f"OPTIMIZE parquet.`{sys.argv[2]}` FULL ZORDER BY (a) OPTIONS ('num-files' = '{2 + n % 2}')")
"""


def test_a_number_of_files_stays_a_number_when_the_table_grows(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a INT, b INT) USING parquet")
    insert(spark, "t", 0, 5000)
    spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '16')")
    insert(spark, "t", 5000, 200_000, 2)
    for _ in range(2):
        spark.sql("OPTIMIZE t")
        assert len(data_files(database / "t")) == pytest.approx(16, abs=4)
    # A size stays a size. Another predicate says nothing about the number.
    size = sum(data_files(database / "t").values()) // 8
    spark.sql(f"OPTIMIZE t FULL ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '{size}')")
    insert(spark, "t", 205_000, 205_000, 2)
    spark.sql("OPTIMIZE t")
    assert len(data_files(database / "t")) == pytest.approx(16, abs=4)
    [newest, *_] = spark.sql("DESCRIBE HISTORY t").collect()
    assert newest["operationParameters"]["target-file-size-bytes"] == str(size)


def test_a_number_of_files_is_of_its_own_predicate(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (id BIGINT, a INT, p INT) USING parquet PARTITIONED BY (p)")
    spark.sql("INSERT INTO t SELECT /*+ REPARTITION(2) */ id, CAST(id * 7919 % 1000 AS INT), id % 2 FROM range(20000)")
    spark.sql("OPTIMIZE t WHERE p = 0 ZORDER BY (a) OPTIONS ('num-files' = '8')")
    spark.sql("OPTIMIZE t WHERE p = 1")
    assert len(data_files(database / "t" / "p=0")) == pytest.approx(8, abs=2)
    assert len(data_files(database / "t" / "p=1")) == 1


def answer(ask: Callable[[], int]) -> str:
    """The message of a failed query. None if it answers."""
    try:
        return str(ask())
    except (PySparkException, Py4JJavaError) as e:
        # Parquet's reader opens a file on a local disk a second time. Java words this error in its own way.
        if "FAILED_READ_FILE" not in str(e) or ("FILE_NOT_EXIST" not in str(e) and "NoSuchFile" not in str(e)):
            raise
        return "moved"


def test_queries_by_path_find_their_columns_while_another_process_exchanges_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "t"
    spark.range(300).selectExpr("id", "id % 10 AS a").repartition(3).write.parquet(str(folder))
    asks: list[Callable[[], int]] = [
        lambda: spark.read.parquet(str(folder)).where("a = 3").count(),
        lambda: spark.read.format("parquet").load(str(folder)).where("a = 3").count(),
        lambda: int(spark.sql(f"SELECT count(*) FROM parquet.`{folder}` WHERE a = 3").collect()[0][0]),
    ]
    end = tmp_path / "end"
    command = [sys.executable, "-c", EXCHANGES, str(tmp_path / "other"), str(folder), str(end)]
    with subprocess.Popen(command, cwd=SUPPORT, stdout=subprocess.PIPE, text=True) as other:
        try:
            assert other.stdout is not None
            assert any(line == "ready\n" for line in other.stdout)
            while not (folder / "_zorder").exists():
                assert other.poll() is None
                time.sleep(0.05)
            found = Counter(answer(ask) for _ in range(60) for ask in asks)
        finally:
            end.touch()
        assert other.wait(120) == 0
    # A file may be moved after the query was planned and before a task opens it. This is documented.
    assert set(found) <= {"30", "moved"}
    assert found["30"] > 60
    versions = spark.sql(f"DESCRIBE HISTORY parquet.`{folder}`").count()
    assert versions > 3


@FORMATS
def test_describe_shows_the_columns_asked_for(spark: SparkSession, database: Path, file_format: str) -> None:
    spark.sql(f"CREATE TABLE t (id BIGINT, a INT, s STRUCT<x: INT, `y z`: STRING>) USING {file_format}")
    values = "id, CAST(id AS INT), struct(CAST(id AS INT), 'w')"
    spark.sql(f"INSERT INTO t SELECT /*+ REPARTITION(3) */ {values} FROM range(9)")
    spark.sql("CREATE SKIPPING INDEX ON t")

    def shown(columns: str) -> list[str]:
        rows = spark.sql(f"DESCRIBE SKIPPING INDEX ON t {columns}").collect()
        assert len({r["path"] for r in rows}) == 3
        return sorted({r["column"] for r in rows})

    # Parquet's footers tell how often the struct itself is null.
    struct = ["s"] if file_format == "parquet" else []
    assert shown("") == ["a", "id", *struct, "s.x", "s.y z"]
    assert shown("(A)") == ["a"]
    assert shown("(s.`y z`, id)") == ["id", "s.y z"]
    assert shown("(s)") == [*struct, "s.x", "s.y z"]
    with pytest.raises(PySparkException) as e:
        spark.sql("DESCRIBE SKIPPING INDEX ON t (b)")
    assert e.value.getCondition() == "ZORDER_COLUMN_NOT_FOUND"
    # With an index of one column, the statistics of the others come from the footers.
    whole = spark.sql("DESCRIBE CLUSTERING t (id, a)").collect()
    spark.sql("CREATE OR REPLACE SKIPPING INDEX ON t (a)")
    assert spark.sql("DESCRIBE CLUSTERING t (id, a)").collect() == whole
    [only] = spark.sql("DESCRIBE CLUSTERING t (id)").collect()
    assert only["depth_histogram"] == whole[0]["depth_histogram"]


def test_describe_makes_its_rows_slice_by_slice(spark: SparkSession, database: Path) -> None:
    columns = [f"id + {n} AS c{n}" for n in range(300)]
    spark.range(8, numPartitions=8).selectExpr(*columns).write.saveAsTable("t")
    spark.sql("CREATE SKIPPING INDEX ON t")
    described = spark.sql("DESCRIBE SKIPPING INDEX ON t")
    assert described.rdd.getNumPartitions() == 2
    # The rows are those of the moment of the statement.
    spark.sql("OPTIMIZE t ZORDER BY (c0) OPTIONS ('num-files' = '1')")
    rows = described.collect()
    assert [r["column"] for r in rows] == [f"c{n}" for n in range(300)] * 8
    assert len({r["path"] for r in rows}) == 8
    assert {r["status"] for r in rows} == {"indexed"}
    assert sorted(int(r["min"]) for r in rows if r["column"] == "c299") == list(range(299, 307))
    assert spark.sql("DESCRIBE SKIPPING INDEX ON t").where("column = 'c7' AND max = '14'").count() == 1


def test_keys_that_a_layout_cannot_tell_apart_are_named(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (url STRING, a INT) USING parquet")
    spark.sql(
        "INSERT INTO t SELECT /*+ REPARTITION(2) */ concat(repeat('x', 300), CAST(id AS STRING)), CAST(id AS INT) "
        "FROM range(100)"
    )
    [result] = spark.sql("OPTIMIZE t ZORDER BY (url, a) OPTIONS ('num-files' = '4')").collect()
    reason = result["metrics"]["strategy"]["reason"]
    assert "warning: all sampled values of `url` begin with the same 256 bytes" in reason
    assert "`a`" not in reason
