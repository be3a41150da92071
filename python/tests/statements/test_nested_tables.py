"""A table over a folder of another table. One of them gets no statements, and queries of both see all rows."""

from __future__ import annotations

import shutil
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest
from comparison import refused
from pyspark.sql import SparkSession
from rival import Rival
from small_tables import ROWS, SmallTable, once, write_file

pytestmark = pytest.mark.test_all

DURING = ("after-commit-point", "reveal-1", "decided", "retire-1")
PLACES = ("after-staging-all", *DURING, "before-record-done")


@dataclass(frozen=True)
class Nested:
    """A table that is known by its path, and a named table over its first partition, which may have partitions."""

    outer: SmallTable
    location: Path

    @classmethod
    def write(cls, root: Path, location: Path | None = None, deep: bool = False) -> Nested:
        """Make the folders. `location` is another path to the first partition."""
        return cls(SmallTable.write(root, True, deep), location or root / "p=1")

    @property
    def inner(self) -> str:
        return f"inner_{self.outer.root.name}"

    @property
    def inner_ids(self) -> set[int]:
        return set(range(len(self.outer.ids) // 2))

    def create(self, spark: SparkSession) -> None:
        by = ", q INT) USING parquet PARTITIONED BY (q)" if self.outer.deep else ") USING parquet"
        spark.sql(f"CREATE TABLE {self.inner} (id BIGINT, a INT{by} LOCATION '{self.location}'")
        if self.outer.deep:
            spark.sql(f"MSCK REPAIR TABLE {self.inner}")

    def inner_found(self, spark: SparkSession, where: str = "true") -> Counter[int]:
        return Counter(row[0] for row in spark.sql(f"SELECT id FROM {self.inner} WHERE {where}").collect())

    def assert_inner_seen(self, spark: SparkSession) -> None:
        """Check that queries of the inner table, and of one of its partitions, find each row once."""
        assert self.inner_found(spark) == self.inner_found(spark, "id >= 0") == once(self.inner_ids)
        if self.outer.deep:
            assert self.inner_found(spark, "q = 1") == once(range(3 * ROWS))

    def assert_seen(self, spark: SparkSession) -> None:
        """Check the same for both tables."""
        self.assert_inner_seen(spark)
        assert self.outer.spark_ids(spark) == once(self.outer.ids)

    def assert_settled(self, spark: SparkSession) -> None:
        """Check the same for every reader, and that nothing is left over."""
        self.assert_seen(spark)
        assert self.outer.plain_ids() == once(self.outer.ids)
        assert self.outer.leftovers(9) == []


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
def test_a_query_of_it_recovers_the_table_above(spark: SparkSession, crashed: dict[str, Nested], place: str) -> None:
    case = crashed[place]
    case.create(spark)
    case.assert_inner_seen(spark)
    case.assert_settled(spark)


@pytest.mark.parametrize("linked", [False, True])
def test_a_table_over_a_partition_gets_no_statements(spark: SparkSession, tmp_path: Path, linked: bool) -> None:
    link = tmp_path / "p=9"
    link.symlink_to(tmp_path / f"over_{linked}" / "p=1")
    case = Nested.write(tmp_path / f"over_{linked}", link if linked else None)
    case.create(spark)
    for statement in (
        f"OPTIMIZE {case.inner} ZORDER BY (a)",
        f"CREATE SKIPPING INDEX ON {case.inner}",
        f"VACUUM {case.inner}",
        f"OPTIMIZE parquet.`{case.outer.root / 'p=1'}` ZORDER BY (a)",
    ):
        assert refused(spark, statement)[0] == "ZORDER_UNSUPPORTED_TARGET.PARTITION_FOLDER", statement
    assert not list(tmp_path.rglob("_zorder"))
    spark.sql(f"OPTIMIZE parquet.`{case.outer.root}` WHERE p = 1 ZORDER BY (a) OPTIONS ('num-files' = '2')")
    case.assert_settled(spark)


@pytest.mark.parametrize("link", ["day", "p=9", None])
@pytest.mark.parametrize("place", DURING)
def test_queries_of_both_see_each_row_once_beside_an_owner_that_stands_still(
    spark: SparkSession, rival: Rival, tmp_path: Path, place: str, link: str | None
) -> None:
    name = f"still_{place.replace('-', '_')}_{(link or 'none')[0]}"
    if link:
        (tmp_path / link).symlink_to(tmp_path / name / "p=1")
    case = Nested.write(tmp_path / name, tmp_path / link if link else None)
    case.create(spark)
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
def test_files_go_into_their_own_partition(spark: SparkSession, rival: Rival, tmp_path: Path, place: str) -> None:
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


def test_a_query_of_a_partition_with_partitions_recovers_the_table_above(spark: SparkSession, tmp_path: Path) -> None:
    rival = Rival(tmp_path / "rival")
    cases = [Nested.write(tmp_path / f"crash{n}", deep=True) for n in range(len(DURING))]
    for case, place in zip(cases, DURING, strict=True):
        case.create(spark)
        rival.pause(case.outer.optimize, place)
    rival.kill()
    for case in cases:
        case.assert_inner_seen(spark)
        assert not list(case.outer.root.glob("_zorder/_lock-*"))
        assert not list(case.outer.root.glob("_zorder/*.publishing"))
        case.assert_seen(spark)


@pytest.mark.parametrize("link", ["day", "p=9"])
def test_another_name_finds_the_table_above(spark: SparkSession, rival: Rival, tmp_path: Path, link: str) -> None:
    root = tmp_path / f"linked_{link[0]}"
    (tmp_path / link).symlink_to(root / "p=1")
    case = Nested.write(root, tmp_path / link, deep=True)
    case.create(spark)
    for place in ("reveal-1", "decided"):
        running = rival.pause(case.outer.optimize.replace(" ZORDER", " FULL ZORDER", 1), place)
        case.assert_inner_seen(spark)
        held = spark.table(case.inner).select("id")
        assert running.error() is None
        assert Counter(row[0] for row in held.collect()) == once(case.inner_ids)
        case.assert_inner_seen(spark)
