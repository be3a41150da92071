"""Files that another program overwrites or replaces while the session holds a listing of them."""

from collections.abc import Iterable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import no_skipping, scans, settings
from py4j.protocol import Py4JJavaError
from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.test_all

LATER = "id >= 5000"
FILES = 8


def write(file: Path, ids: Iterable[int]) -> None:
    """Overwrite a file as pandas, pyarrow and DuckDB do: they write to the existing file."""
    file.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), file)


@pytest.fixture(params=["flat", "partitioned"])
def table(request: pytest.FixtureRequest, spark: SparkSession, database: Path) -> list[Path]:
    """Files of 100 ids of the table `t`, in one folder or two in each partition. The session has their listing."""
    part = "p={}/" if request.param == "partitioned" else ""
    files = [database / "t" / f"{part.format(f // 2)}part-{f}.parquet" for f in range(FILES)]
    for f, file in enumerate(files):
        write(file, range(100 * f, 100 * f + 100))
    columns, by = ("id LONG, p INT", "PARTITIONED BY (p)") if part else ("id LONG", "")
    spark.sql(f"CREATE TABLE t ({columns}) USING parquet {by} LOCATION '{database}/t'")
    if part:
        spark.sql("MSCK REPAIR TABLE t")
    spark.sql("CREATE SKIPPING INDEX ON t")
    assert spark.table("t").count() == 100 * FILES
    return files


def files_read(frame: DataFrame) -> int:
    [scan] = scans(frame)
    return int(scan.metrics().apply("numFiles").value())


def ids(frame: DataFrame) -> list[int]:
    return sorted(row.id for row in frame.collect())


def later(spark: SparkSession) -> DataFrame:
    return spark.table("t").where(LATER)


def test_a_file_overwritten_in_place_is_read(spark: SparkSession, table: list[Path]) -> None:
    found = later(spark)
    assert (ids(found), files_read(found)) == ([], 0)
    write(table[3], range(5000, 5100))
    found = later(spark)
    assert (ids(found), files_read(found)) == (list(range(5000, 5100)), 1)
    with no_skipping(spark):
        assert later(spark).count() == 100


def test_a_frame_made_before_the_file_was_overwritten_reads_it(spark: SparkSession, table: list[Path]) -> None:
    by_name, by_path = later(spark), spark.read.parquet(str(table[0].parent)).where(LATER)
    # The query is planned, but has not run.
    for frame in (by_name, by_path):
        frame.explain()
    write(table[1], range(5000, 5100))
    assert ids(by_name) == ids(by_path) == list(range(5000, 5100))
    assert files_read(by_name) == files_read(by_path) == 1
    assert by_name.count() == by_path.count() == 100


@pytest.mark.parametrize("caches", [False, True], ids=["planned", "cached"])
def test_a_planned_frame_sees_partitions_that_come_and_go(spark: SparkSession, database: Path, caches: bool) -> None:
    spark.sql("CREATE TABLE parts (id BIGINT, p INT) USING parquet PARTITIONED BY (p)")
    spark.sql("INSERT INTO parts SELECT id, id % 3 FROM range(30)")
    spark.sql("CREATE SKIPPING INDEX ON parts")
    frame = spark.table("parts").where("id >= 3")
    if caches:
        frame.cache()
    frame.explain()
    other = spark.newSession()
    other.sql(f"USE {database.name}")
    other.sql("ALTER TABLE parts DROP PARTITION (p = 1)")
    other.sql("INSERT INTO parts VALUES (90, 9)")
    assert sorted(row.id for row in frame.collect()) == [i for i in range(3, 30) if i % 3 != 1] + [90]
    frame.unpersist()


def test_replaced_files_are_missed_as_loudly_as_without_skipping(spark: SparkSession, table: list[Path]) -> None:
    for file in table[2:4]:
        file.unlink()
    write(table[2].with_name("other.parquet"), range(5000, 5200))
    with pytest.raises(Py4JJavaError, match=r"FAILED_READ_FILE\.FILE_NOT_EXIST"):
        later(spark).collect()
    with no_skipping(spark), pytest.raises(Py4JJavaError, match=r"FAILED_READ_FILE\.FILE_NOT_EXIST"):
        later(spark).collect()
    spark.sql("REFRESH TABLE t")
    assert later(spark).count() == 200


def test_what_did_not_change_is_skipped_as_ever(spark: SparkSession, table: list[Path]) -> None:
    write(table[7], range(5000, 5100))
    found = spark.table("t").where("id BETWEEN 110 AND 120")
    assert (ids(found), files_read(found)) == (list(range(110, 121)), 2)
    spark.sql("REFRESH SKIPPING INDEX ON t")
    found = spark.table("t").where("id BETWEEN 110 AND 120")
    assert (ids(found), files_read(found)) == (list(range(110, 121)), 1)


def test_a_session_may_trust_its_listing(spark: SparkSession, table: list[Path]) -> None:
    write(table[3], range(5000, 5100))
    with settings(spark, **{"spark_zorder_skipping_trust-listing": "true"}):
        # The loss that the setting accepts, as its description says.
        assert later(spark).count() == 0
        spark.sql("REFRESH TABLE t")
        assert later(spark).count() == 100


def test_a_plan_looks_by_the_setting_when_it_runs(spark: SparkSession, table: list[Path]) -> None:
    with settings(spark, **{"spark_zorder_skipping_trust-listing": "true"}):
        frame = later(spark)
        frame.explain()
        write(table[3], range(5000, 5100))
    assert frame.count() == 100
