"""Other programs write to the table, with Spark and without, before and after OPTIMIZE and the making of an index.

Each time the rows must be those without skipping, and files that were there before must still be skipped.
"""

import os
import shutil
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import files_read, same_rows, settings, skips
from pyarrow import dataset
from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

QUERIES = ["a = 17", "a <> 17", "id = 130", "id < 50 AND a > 20", "p = 1 AND a < 10", "p = 2", "a IS NULL", "id >= 0"]


def make(spark: SparkSession, partitioned: bool, prepared: str) -> None:
    """The table `t` of three partitions with four files each, or of twelve files."""
    by = "PARTITIONED BY (p)" if partitioned else ""
    spark.sql(f"CREATE TABLE t (id BIGINT, a INT, p INT) USING parquet {by}")
    frame = spark.range(240).selectExpr("id", "CAST(id * 7919 % 101 AS INT) AS a", "CAST(id % 3 AS INT) AS p")
    for n in range(4):
        rows = frame.where(f"id >= {n * 60} AND id < {n * 60 + 60}")
        rows.repartitionByRange(3, "p").write.mode("append").insertInto("t")
    if prepared == "index":
        spark.sql("CREATE SKIPPING INDEX ON t")
    elif prepared == "optimize":
        spark.sql("OPTIMIZE t ZORDER BY (id) OPTIONS ('num-files' = '12')")


def files(folder: Path) -> list[Path]:
    return sorted(f for f in folder.rglob("*.parquet") if "_zorder" not in f.parts)


def folder_of(spark: SparkSession) -> Path:
    described = spark.sql("DESCRIBE FORMATTED t").where("col_name = 'Location'").collect()
    return Path(described[0]["data_type"].removeprefix("file:"))


def numbers(first: int, count: int, p: int | None = None) -> pa.Table:
    ids = range(first, first + count)
    columns = {"id": pa.array(ids, pa.int64()), "a": pa.array([i * 7919 % 101 for i in ids], pa.int32())}
    return pa.table(columns if p is None else columns | {"p": pa.array([p] * count, pa.int32())})


def insert(spark: SparkSession) -> None:
    spark.sql("INSERT INTO t SELECT id, 17, 1 FROM range(500, 510)")


def overwrite_all(spark: SparkSession) -> None:
    spark.sql("INSERT OVERWRITE t SELECT id, CAST(id AS INT), CAST(id % 3 AS INT) FROM range(100, 180)")


def overwrite_static(spark: SparkSession) -> None:
    spark.sql("INSERT OVERWRITE t PARTITION (p = 1) SELECT id, 17 FROM range(600, 610)")


def overwrite_dynamic(spark: SparkSession) -> None:
    with settings(spark, spark_sql_sources_partitionOverwriteMode="dynamic"):
        spark.sql("INSERT OVERWRITE t SELECT id, 17, 1 FROM range(700, 710)")


def delete_files(spark: SparkSession) -> None:
    folder = folder_of(spark)
    for file in files(folder)[::3]:
        file.unlink()
    spark.sql("REFRESH TABLE t")


def copy_in(spark: SparkSession) -> None:
    folder = folder_of(spark)
    source = files(folder)[1]
    shutil.copy(source, source.with_name("copied.parquet"))
    shutil.copy2(source, source.with_name("copied_with_its_time.parquet"))
    into = folder / "p=1" if (folder / "p=1").exists() else folder
    pq.write_table(numbers(800, 10, None if into != folder else 1), into / "new.parquet")
    spark.sql("REFRESH TABLE t")


def truncate(spark: SparkSession) -> None:
    spark.sql("TRUNCATE TABLE t")
    spark.sql("INSERT INTO t SELECT id, CAST(id AS INT), 1 FROM range(10, 40)")


def make_anew(spark: SparkSession) -> None:
    partitioned = any(p.name.startswith("p=") for p in folder_of(spark).iterdir())
    spark.sql("DROP TABLE t")
    make(spark, partitioned, "nothing")
    spark.sql("INSERT INTO t SELECT id, 17, 2 FROM range(900, 910)")


def move(spark: SparkSession) -> None:
    """Insert into a copy of the table's folder that has changed since it was copied."""
    here = folder_of(spark)
    there = here.with_name("moved")
    shutil.copytree(here, there)
    folder = there / "p=1" if (there / "p=1").exists() else there
    pq.write_table(numbers(850, 10, None if folder != there else 1), folder / "more.parquet")
    files(there)[0].unlink()
    spark.sql(f"ALTER TABLE t SET LOCATION '{there}'")
    if (there / "p=1").exists():
        for p in range(3):
            spark.sql(f"ALTER TABLE t PARTITION (p = {p}) SET LOCATION '{there}/p={p}'")


def drop_partition(spark: SparkSession) -> None:
    spark.sql("ALTER TABLE t DROP PARTITION (p = 2)")
    spark.sql("INSERT INTO t SELECT id, 17, 2 FROM range(300, 305)")


def add_partition_elsewhere(spark: SparkSession) -> None:
    elsewhere = folder_of(spark).with_name("elsewhere")
    elsewhere.mkdir()
    pq.write_table(numbers(0, 40), elsewhere / "0.parquet")
    spark.sql(f"ALTER TABLE t ADD PARTITION (p = 7) LOCATION '{elsewhere}'")
    # It has the relative name of a file of the table.
    twin = folder_of(spark).with_name("twin")
    twin.mkdir()
    name = next(f for f in files(folder_of(spark)) if f.parent.name == "p=1")
    pq.write_table(numbers(1000, 40), twin / name.name)
    os.utime(twin / name.name, ns=(name.stat().st_atime_ns, name.stat().st_mtime_ns))
    spark.sql(f"ALTER TABLE t PARTITION (p = 1) SET LOCATION '{twin}'")


def repair(spark: SparkSession) -> None:
    folder = folder_of(spark)
    (folder / "p=8").mkdir()
    pq.write_table(numbers(0, 40), folder / "p=8" / "0.parquet")
    shutil.rmtree(folder / "p=0")
    spark.sql("MSCK REPAIR TABLE t SYNC PARTITIONS")


ANY = [insert, overwrite_all, delete_files, copy_in, truncate, make_anew, move]
PARTITIONED = [overwrite_static, overwrite_dynamic, drop_partition, add_partition_elsewhere, repair]
WRITES = [
    pytest.param(write, partitioned, id=f"{write.__name__}-{'partitioned' if partitioned else 'flat'}")
    for partitioned in (False, True)
    for write in (ANY + PARTITIONED if partitioned else ANY)
]
NOTHING_OLD = {overwrite_all, truncate, make_anew}


@pytest.mark.parametrize("prepared", ["index", "optimize"])
@pytest.mark.parametrize(("write", "partitioned"), WRITES)
def test_rows_are_right_after_any_write(
    spark: SparkSession, database: Path, write: Callable[[SparkSession], None], partitioned: bool, prepared: str
) -> None:
    make(spark, partitioned, prepared)
    assert skips(spark, "SELECT * FROM t WHERE id = 130")
    write(spark)
    for predicate in QUERIES:
        same_rows(spark, f"SELECT * FROM t WHERE {predicate}")
    found = Counter(row["id"] for row in spark.sql("SELECT id FROM t WHERE id >= 0").collect())
    if write is not add_partition_elsewhere:
        lying = dataset.dataset(files(folder_of(spark)), format="parquet").to_table(columns=["id"])
        assert found == Counter(lying.column("id").to_pylist())
    if write not in NOTHING_OLD:
        assert skips(spark, "SELECT * FROM t WHERE id = 130")
    if prepared == "index" and write not in NOTHING_OLD:
        spark.sql("REFRESH SKIPPING INDEX ON t")
    elif write not in (add_partition_elsewhere, move):
        spark.sql("OPTIMIZE t FULL ZORDER BY (id) OPTIONS ('num-files' = '9')")
    else:
        spark.sql("CREATE OR REPLACE SKIPPING INDEX ON t")
    for predicate in QUERIES:
        same_rows(spark, f"SELECT * FROM t WHERE {predicate}")
    assert Counter(row["id"] for row in spark.sql("SELECT id FROM t WHERE id >= 0").collect()) == found
    assert skips(spark, "SELECT * FROM t WHERE id = 130")


# --- A file replaced by one of the same length ---


def plain(path: Path, first: int) -> Path:
    """Write a file whose length does not depend on its values."""
    columns = {"id": pa.array(range(first, first + 50), pa.int64())}
    pq.write_table(pa.table(columns), path, use_dictionary=False, compression="none")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three files of the same length, whose time stamps are long past."""
    table = tmp_path / "t"
    table.mkdir()
    for n in range(3):
        os.utime(plain(table / f"{n}.parquet", 1_000 + n * 50), (1_700_000_000, 1_700_000_000))
    return table


def ids(spark: SparkSession, folder: Path, predicate: str) -> list[int]:
    query = f"SELECT id FROM parquet.`{folder}` WHERE {predicate}"
    return sorted(row["id"] for row in same_rows(spark, query))


def replace(folder: Path) -> Path:
    """Replace the first file by one of the same length with other rows."""
    before = (folder / "0.parquet").stat().st_size
    path = plain(folder / "0.parquet", 5_000)
    assert path.stat().st_size == before
    return path


def test_a_file_replaced_by_one_of_the_same_length(spark: SparkSession, folder: Path) -> None:
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    assert files_read(spark, f"SELECT id FROM parquet.`{folder}` WHERE id = 5010") == (0, 3)
    path = replace(folder)
    assert ids(spark, folder, "id = 5010") == [5010]
    # Hadoop reports milliseconds.
    for millis in (1_700_000_000_001, 1_700_000_000_999, 1_699_999_999_999, 1_700_000_001_000):
        os.utime(path, ns=(millis * 1_000_000, millis * 1_000_000))
        assert ids(spark, folder, "id = 5010") == [5010], millis
        assert ids(spark, folder, "id = 1010") == [], millis
        assert files_read(spark, f"SELECT id FROM parquet.`{folder}` WHERE id = 1060") == (2, 3)
    spark.sql(f"REFRESH SKIPPING INDEX ON parquet.`{folder}`")
    assert files_read(spark, f"SELECT id FROM parquet.`{folder}` WHERE id = 5010") == (1, 3)


def stamped_in_seconds(path: Path) -> Path:
    """Stamp the file as a file system of whole seconds would stamp one that is written now."""
    now = int(time.time())
    os.utime(path, (now, now))
    return path


@pytest.mark.parametrize("statement", ["CREATE", "CREATE OR REPLACE", "REFRESH"])
def test_within_the_grain_of_stamps_nothing_is_believed(spark: SparkSession, folder: Path, statement: str) -> None:
    if statement != "CREATE":
        spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    path = stamped_in_seconds(plain(folder / "0.parquet", 3_000))
    first = path.stat().st_mtime
    spark.sql(f"{statement} SKIPPING INDEX ON parquet.`{folder}`")
    # Making the index waited until no later write could get the same time stamp.
    assert time.time() >= first + 1
    stamped_in_seconds(replace(folder))
    assert path.stat().st_mtime > first
    assert ids(spark, folder, "id = 5010") == [5010]
    assert ids(spark, folder, "id = 3010") == []


def test_a_file_from_the_future_is_always_read(spark: SparkSession, folder: Path) -> None:
    later = int(time.time()) + 3600
    os.utime(folder / "0.parquet", (later, later))
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    os.utime(replace(folder), (later, later))
    assert ids(spark, folder, "id = 5010") == [5010]
    assert files_read(spark, f"SELECT id FROM parquet.`{folder}` WHERE id = 1060") == (2, 3)


def test_outputs_of_optimize_replaced_at_once(spark: SparkSession, folder: Path) -> None:
    spark.sql(f"OPTIMIZE parquet.`{folder}` ZORDER BY (id) OPTIONS ('num-files' = '3')").collect()
    replaced = files(folder)[0]
    old = pq.read_table(replaced).column("id").to_pylist()
    # Otherwise Hadoop would see that Hadoop did not write this file.
    replaced.with_name(f".{replaced.name}.crc").unlink(missing_ok=True)
    plain(replaced, 5_000)
    assert ids(spark, folder, "id = 5010") == [5010]
    assert ids(spark, folder, f"id = {old[0]}") == []
