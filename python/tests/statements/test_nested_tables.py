"""A table over a folder of another table. One of them gets no statements, and queries of both see all rows."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from comparison import condition_of
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from rival import Rival
from small_tables import ROWS, SmallTable, once, write_file

pytestmark = pytest.mark.test_all

COLUMNS = "(id BIGINT, a INT)"
PLACES = ("after-staging-all", "after-commit-point", "reveal-1", "decided", "retire-1", "before-record-done")


@dataclass(frozen=True)
class Nested:
    """A table of two partitions, known by its path, and a named table over the first partition."""

    outer: SmallTable
    name: str

    @classmethod
    def write(cls, root: Path, location: Path | None = None) -> Nested:
        """Make the folders. `location` is another path to the first partition."""
        return cls(SmallTable.write(root, True), f"day_{root.name} LOCATION '{location or root / 'p=1'}'")

    @property
    def create(self) -> str:
        name, location = self.name.split(" ", 1)
        return f"CREATE TABLE {name} {COLUMNS} USING parquet {location}"

    @property
    def inner(self) -> str:
        return self.name.split(" ", 1)[0]

    @property
    def inner_ids(self) -> set[int]:
        return set(range(3 * ROWS))

    def assert_seen(self, spark: SparkSession) -> None:
        """Check that queries of both tables find each row once."""
        assert self.inner_found(spark) == once(self.inner_ids)
        assert self.outer.spark_ids(spark) == once(self.outer.ids)

    def inner_found(self, spark: SparkSession) -> Counter[int]:
        return Counter(row[0] for row in spark.sql(f"SELECT id FROM {self.inner}").collect())

    def assert_settled(self, spark: SparkSession) -> None:
        """Check the same for every reader, and that nothing is left over."""
        self.assert_seen(spark)
        assert self.outer.plain_ids() == once(self.outer.ids)
        assert self.outer.leftovers(9) == []


@dataclass(frozen=True)
class Deep:
    """A table of two levels of partitions, and a named table over a folder of the first level."""

    root: Path
    location: Path

    @classmethod
    def write(cls, root: Path, location: Path | None = None) -> Deep:
        """Make the folders. `location` is another path to `p=1`."""
        for f, folder in enumerate(root / f"p={p}" / f"q={q}" for p in (1, 2) for q in (1, 2)):
            for i in range(3):
                start = (f * 3 + i) * ROWS
                write_file(folder / f"part-{i}.parquet", range(start, start + ROWS))
        return cls(root, location or root / "p=1")

    @property
    def inner(self) -> str:
        return f"deep_{self.root.name}"

    def create(self, spark: SparkSession) -> None:
        spark.sql(
            f"CREATE TABLE {self.inner} (id BIGINT, a INT, q INT) USING parquet PARTITIONED BY (q)"
            f" LOCATION '{self.location}'"
        )
        spark.sql(f"MSCK REPAIR TABLE {self.inner}")

    @property
    def optimize(self) -> str:
        return f"OPTIMIZE parquet.`{self.root}` FULL ZORDER BY (a) OPTIONS ('num-files' = '8')"

    def assert_seen(self, spark: SparkSession) -> None:
        """Check that queries of the inner table, and of each of its partitions, find each row once."""
        for where, ids in (
            ("", range(6 * ROWS)),
            (" WHERE q = 1", range(3 * ROWS)),
            (" WHERE id >= 0", range(6 * ROWS)),
        ):
            found = Counter(row[0] for row in spark.sql(f"SELECT id FROM {self.inner}{where}").collect())
            assert found == once(ids), where

    def assert_whole(self, spark: SparkSession) -> None:
        found = spark.sql(f"SELECT id FROM parquet.`{self.root}`").collect()
        assert Counter(row[0] for row in found) == once(range(12 * ROWS))


def refused(spark: SparkSession, sql: str) -> str | None:
    try:
        spark.sql(sql).collect()
    except (PySparkException, Py4JJavaError) as error:
        return condition_of(error)
    return None


@pytest.fixture(scope="module")
def crashed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Nested]:
    """A process that died during an operation on the outer table of each pair."""
    work = tmp_path_factory.mktemp("nested")
    rival = Rival(work / "rival")
    cases = {}
    for number, place in enumerate(PLACES):
        cases[place] = Nested.write(work / f"t{number}")
        rival.pause(cases[place].outer.optimize, place)
    rival.kill()
    return cases


@pytest.mark.parametrize("place", PLACES)
def test_a_query_of_the_partition_recovers_the_table_above(
    spark: SparkSession, crashed: dict[str, Nested], place: str
) -> None:
    case = crashed[place]
    spark.sql(case.create)
    assert case.inner_found(spark) == once(case.inner_ids)
    case.assert_settled(spark)


@pytest.mark.parametrize("linked", [False, True])
def test_a_table_over_a_partition_gets_no_statements(spark: SparkSession, tmp_path: Path, linked: bool) -> None:
    link = tmp_path / "p=9"
    link.symlink_to(tmp_path / f"over_{linked}" / "p=1")
    case = Nested.write(tmp_path / f"over_{linked}", link if linked else None)
    spark.sql(case.create)
    for statement in (
        f"OPTIMIZE {case.inner} ZORDER BY (a)",
        f"CREATE SKIPPING INDEX ON {case.inner}",
        f"VACUUM {case.inner}",
        f"OPTIMIZE parquet.`{case.outer.root / 'p=1'}` ZORDER BY (a)",
    ):
        assert refused(spark, statement) == "ZORDER_UNSUPPORTED_TARGET.PARTITION_FOLDER", statement
    assert not list(tmp_path.rglob("_zorder"))
    spark.sql(f"OPTIMIZE parquet.`{case.outer.root}` WHERE p = 1 ZORDER BY (a) OPTIONS ('num-files' = '2')")
    case.assert_settled(spark)


@pytest.mark.parametrize("link", ["day", "p=9", None])
@pytest.mark.parametrize("place", ["after-commit-point", "reveal-1", "decided", "retire-1"])
def test_queries_of_both_see_each_row_once_beside_an_owner_that_stands_still(
    spark: SparkSession, rival: Rival, tmp_path: Path, place: str, link: str | None
) -> None:
    name = f"still_{place.replace('-', '_')}_{(link or 'none')[0]}"
    if link:
        (tmp_path / link).symlink_to(tmp_path / name / "p=1")
    case = Nested.write(tmp_path / name, tmp_path / link if link else None)
    spark.sql(case.create)
    running = rival.pause(case.outer.optimize, place)
    for _ in range(2):
        case.assert_seen(spark)
    held = spark.read.parquet(str(case.outer.root)).select("id"), spark.table(case.inner).select("id")
    assert running.error() is None
    for _ in range(2):
        case.assert_seen(spark)
    assert Counter(row[0] for row in held[0].collect()) == once(case.outer.ids)
    assert Counter(row[0] for row in held[1].collect()) == once(case.inner_ids)


@pytest.mark.parametrize("place", ["after-stage-folders", "after-staging", "after-staging-all"])
def test_files_are_written_into_their_own_partition(
    spark: SparkSession, rival: Rival, tmp_path: Path, place: str
) -> None:
    table = SmallTable.write(tmp_path / "t", True)
    running = rival.pause(table.optimize, place)
    assert not list(table.root.glob("_zorder/staging"))
    assert all(len(list(folder.glob("_zorder/staging/*"))) == 1 for folder in table.folders)
    if place != "after-stage-folders":
        assert all(len(list(folder.glob("_zorder/staging/*/*"))) == 2 for folder in table.folders)
    # Another program overwrites a partition with the result of a query.
    shutil.rmtree(table.folders[0])
    ids = table.ids - set(range(3 * ROWS)) | write_file(table.folders[0] / "new.parquet", range(1000, 1010))
    assert running.error() == "ZORDER_COMMIT_CONFLICT"
    assert "the folder was overwritten" in rival.answer(running.number)["message"]
    assert table.plain_ids() == once(ids)
    assert table.leftovers(0) == []
    assert table.spark_ids(spark) == once(ids)


@pytest.mark.parametrize("partitioned", [False, True])
def test_no_checksum_files_are_left(spark: SparkSession, tmp_path: Path, partitioned: bool) -> None:
    table = SmallTable.write(tmp_path / "t", partitioned)
    spark.sql(table.optimize).collect()
    spark.sql(f"RESTORE {table.source} TO VERSION AS OF 0").collect()
    assert [p for p in table.root.rglob("*") if p.name.endswith(".crc")] == []


DEEP_PLACES = ("after-commit-point", "reveal-1", "decided", "retire-1")


def test_a_query_of_a_partition_that_has_partitions_recovers_the_table_above(
    spark: SparkSession, tmp_path: Path
) -> None:
    rival = Rival(tmp_path / "rival")
    cases = [Deep.write(tmp_path / f"crash{n}") for n in range(len(DEEP_PLACES))]
    for case, place in zip(cases, DEEP_PLACES, strict=True):
        case.create(spark)
        rival.pause(case.optimize, place)
    rival.kill()
    for case in cases:
        case.assert_seen(spark)
        assert not list(case.root.glob("_zorder/_lock-*"))
        assert not list(case.root.glob("_zorder/*.publishing"))
        case.assert_whole(spark)


@pytest.mark.parametrize("link", ["day", "p=9"])
def test_a_partition_by_another_name_finds_the_table_above(
    spark: SparkSession, rival: Rival, tmp_path: Path, link: str
) -> None:
    root = tmp_path / f"linked_{link[0]}"
    (tmp_path / link).symlink_to(root / "p=1")
    case = Deep.write(root, tmp_path / link)
    case.create(spark)
    for place in ("reveal-1", "decided"):
        running = rival.pause(case.optimize, place)
        case.assert_seen(spark)
        held = spark.table(case.inner).select("id")
        assert running.error() is None
        assert Counter(row[0] for row in held.collect()) == once(range(6 * ROWS))
        case.assert_seen(spark)
