"""Partitions that others move, copy or empty after a process died while it exchanged their files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from rival import Rival
from small_tables import SmallTable, once

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

PLACES = ("reveal-1", "retire-1")


TESTS = 5
"""So many tables are used up for each step."""


@pytest.fixture(scope="module")
def dead(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[SmallTable]]:
    """Tables of processes that were killed, for each step."""
    base = tmp_path_factory.mktemp("moved")
    rival = Rival(base / "rival")
    try:
        tables = {
            place: [SmallTable.write(base / f"{place}-{n}", partitioned=True) for n in range(TESTS)] for place in PLACES
        }
        for place in PLACES:
            for table in tables[place]:
                rival.pause(table.optimize, place)
    finally:
        rival.kill()
    return tables


@pytest.fixture(params=PLACES)
def table(request: pytest.FixtureRequest, dead: dict[str, list[SmallTable]]) -> SmallTable:
    return dead[request.param].pop()


def half(table: SmallTable) -> Path:
    """The partition whose files are being exchanged."""
    return next(f.parent for f in table.files() if "-zorder-" in f.name)


def move(table: SmallTable) -> None:
    half(table).rename(table.root / "p=9")


def remove_empty_folders(table: SmallTable) -> None:
    # The deepest first.
    for folder in sorted((f for f in table.root.rglob("*") if f.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


@pytest.mark.parametrize("change", [move, remove_empty_folders])
def test_each_row_is_there_once(spark: SparkSession, table: SmallTable, change: Callable[[SmallTable], None]) -> None:
    change(table)
    assert table.spark_ids(spark) == once(table.ids)
    assert table.plain_ids() == once(table.ids)
    spark.sql(table.optimize).collect()
    assert table.plain_ids() == once(table.ids)


def test_a_copy_has_the_rows_of_its_original_once(spark: SparkSession, table: SmallTable) -> None:
    original = half(table)
    ids = set(range(60)) if original.name == "p=1" else set(range(60, 120))
    shutil.copytree(original, table.root / "p=9")
    assert table.spark_ids(spark) == once(table.ids) + once(ids)
    assert table.plain_ids() == once(table.ids) + once(ids)


def test_a_partition_put_aside_and_back_has_its_rows_once(
    spark: SparkSession, table: SmallTable, tmp_path: Path
) -> None:
    original = half(table)
    ids = set(range(60)) if original.name == "p=1" else set(range(60, 120))
    original.rename(tmp_path / "aside")
    assert table.spark_ids(spark) == once(table.ids - ids)
    (tmp_path / "aside").rename(original)
    assert table.spark_ids(spark) == once(table.ids)
    assert table.plain_ids() == once(table.ids)


def test_a_query_that_may_not_look_at_what_is_half_done_fails(spark: SparkSession, table: SmallTable) -> None:
    side = half(table) / "_zorder"
    aside = side.rename(side.with_name("_aside"))
    # No program can follow a link to itself.
    side.symlink_to(side)
    with pytest.raises(Exception, match="ZORDER_RECOVERY_FAILED"):
        table.spark_ids(spark)
    side.unlink()
    aside.rename(side)
    assert table.spark_ids(spark) == once(table.ids)
    assert table.plain_ids() == once(table.ids)
