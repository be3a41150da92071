"""Files in `_zorder` are not trusted. Whatever they contain, a query has the same rows, and the log names the file."""

import json
import os
import random
import re
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
from comparison import files_read, refused
from logs import logged
from pyspark.sql import SparkSession
from small_tables import SmallTable, sealed

pytestmark = pytest.mark.test_all

OUTSIDE = b"nobody may touch this"


@pytest.fixture(scope="module")
def clustered(spark_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of two partitions after two operations, with history, index and trash."""
    folder = tmp_path_factory.mktemp("clustered") / "t"
    table = SmallTable.write(folder, partitioned=True)
    spark_session.sql(table.optimize).collect()
    statement = f"OPTIMIZE parquet.`{folder}` FULL ZORDER BY (id) OPTIONS ('num-files' = '6')"
    spark_session.sql(statement).collect()
    return folder


@pytest.fixture
def copy(clustered: Path, tmp_path: Path) -> SmallTable:
    """Copy it with its time stamps."""
    return SmallTable(Path(shutil.copytree(clustered, tmp_path / "t")), partitioned=True)


def newest(side: Path, pattern: str) -> Path:
    return max(p for p in side.iterdir() if re.fullmatch(pattern, p.name))


def index(side: Path) -> Path:
    return newest(side, r"_index-\d+\.zidx")


def record(side: Path) -> Path:
    return newest(side, r"_v\d+-\d+ms\.json")


def write(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


def only_index(side: Path, content: bytes) -> Path:
    for other in side.glob("_index-*"):
        other.unlink()
    return write(side / "_index-0000000007.zidx", content)


def as_state(side: Path, suffix: str, **changes: object) -> Path:
    """Write the newest record as that of an operation under way, with other contents."""
    content = json.loads(record(side).read_bytes()) | {"version": 3} | changes
    return write(side / f"_v0000000003-{content['operationId']}.{suffix}", sealed(content))


def outside(side: Path) -> str:
    return str(side.parents[1] / "outside" / "kept.parquet.retired")


def entry(path: str, rows: int = 1) -> dict[str, object]:
    return {"path": path, "length": len(OUTSIDE), "modificationTime": 1000, "rows": rows}


def linked(side: Path, name: str) -> Path:
    """Put a symbolic link to a folder outside."""
    path = side / name
    if path.is_dir():
        shutil.rmtree(path)
    path.symlink_to(side.parents[1] / "outside", target_is_directory=True)
    return path


CASES: dict[str, Callable[[Path], Path | None]] = {
    "an index of random bytes": lambda side: only_index(side, random.Random(1).randbytes(5000)),
    "a record of random bytes": lambda side: write(record(side), random.Random(2).randbytes(500)),
    "a deeply nested record": lambda side: write(record(side), b"[" * 100_000),
    "a damaged publishing record": lambda side: write(side / "_v0000000003.publishing", b"{\x00"),
    "a publishing record with a path that leads outside": lambda side: as_state(
        side, "publishing", inputs=[entry("../outside/kept.parquet")], outputs=[entry("p=1/../../x.parquet")]
    ),
    "a publishing record with an absolute path": lambda side: as_state(
        side, "publishing", inputs=[entry(outside(side))], outputs=[entry("p=1/x.parquet")]
    ),
    "a publishing record of billions of rows": lambda side: as_state(
        side, "publishing", inputs=[entry("p=1/a.parquet", 4_000_000_000_000_000_000)] * 2, outputs=[]
    ),
    "a publishing record that removes all files": lambda side: as_state(side, "publishing", outputs=[]),
    "a damaged undone record": lambda side: write(side / "_v0000000003-x.undone", b"\xff" * 100),
    "a link in place of the trash": lambda side: linked(side, "trash"),
    "a link in place of the staging folder": lambda side: linked(side, "staging"),
    "a damaged lock": lambda side: write(side / "_lock-x", b"\x00" * 100) and None,
    "a lock that is too large": lambda side: write(side / "_lock-x", b"x" * 70_000) and None,
    "a record of the greatest version": lambda side: write(side / "_v999999999999999999-1ms.json", b"{}"),
    "an index of the greatest number": lambda side: write(side / "_index-999999999999999999.zidx", b"{}"),
    "names of nobody": lambda side: write(side / "v1.exe", b"\x00") and None,
}


def files_outside(copy: SmallTable) -> list[Path]:
    """Files beside the table that paths and links of the cases lead to."""
    away = copy.root.parent / "outside"
    away.mkdir()
    kept = [write(away / name, OUTSIDE) for name in ("kept.parquet", "kept.parquet.retired", "kept.parquet.staged")]
    for path in kept:
        os.utime(path, (1, 1))
    return kept


def assert_untouched(copy: SmallTable, kept: list[Path]) -> None:
    assert sorted((copy.root.parent / "outside").iterdir()) == sorted(kept)
    assert all(path.read_bytes() == OUTSIDE and path.stat().st_mtime == 1 for path in kept)


UNDER_WAY = [case for case in CASES if "publishing" in case]
"""Nothing tells on which side the rows are, so a query fails."""


@pytest.mark.parametrize("case", UNDER_WAY)
def test_a_query_names_an_unreadable_record_of_an_operation(spark: SparkSession, copy: SmallTable, case: str) -> None:
    kept = files_outside(copy)
    blamed = CASES[case](copy.root / "_zorder")
    assert blamed is not None
    for statement in (f"SELECT id FROM {copy.source}", f"OPTIMIZE {copy.source} ZORDER BY (a)"):
        condition, message = refused(spark, statement)
        assert condition == "ZORDER_RECOVERY_FAILED"
        assert blamed.name in message
    for statement in ("DESCRIBE HISTORY", "REFRESH SKIPPING INDEX ON", "VACUUM"):
        condition, _ = refused(spark, f"{statement} {copy.source}")
        assert not condition or condition.startswith("ZORDER_"), condition
    assert_untouched(copy, kept)
    blamed.unlink()
    assert copy.spark_ids(spark) == Counter(copy.ids)


@pytest.mark.parametrize("case", [case for case in CASES if case not in UNDER_WAY])
def test_a_query_has_the_same_rows_and_the_log_names_the_file(spark: SparkSession, copy: SmallTable, case: str) -> None:
    kept = files_outside(copy)
    blamed = CASES[case](copy.root / "_zorder")
    with logged(spark, copy.root.parent / "log") as log:
        assert copy.spark_ids(spark) == Counter(copy.ids)
        query = f"SELECT id FROM {copy.source} WHERE id = 17"
        assert [row["id"] for row in spark.sql(query).collect()] == [17]
        files_read(spark, query)
        for statement in ("DESCRIBE HISTORY", "REFRESH SKIPPING INDEX ON", "VACUUM"):
            condition, _ = refused(spark, f"{statement} {copy.source}")
            assert not condition or condition.startswith("ZORDER_"), condition
        assert copy.spark_ids(spark) == Counter(copy.ids)
        if blamed is not None:
            assert blamed.name in log.read_text(), log.read_text()
    assert_untouched(copy, kept)


def test_a_table_goes_on_after_what_was_damaged(spark: SparkSession, copy: SmallTable) -> None:
    side = copy.root / "_zorder"
    only_index(side, b"nothing")
    write(side / "_index-999999999999999998.zidx", b"nothing")
    write(side / "_v0000000003-x.undone", b"nothing")
    write(side / "_lock-x", b"x" * 70_000)
    os.utime(side / "_lock-x", (1, 1))
    spark.sql(f"CREATE SKIPPING INDEX ON {copy.source}")
    kept, total = files_read(spark, f"SELECT id FROM {copy.source} WHERE id = 17")
    assert kept == 1 < total
    spark.sql(f"OPTIMIZE {copy.source} FULL ZORDER BY (a) OPTIONS ('num-files' = '4')").collect()
    assert copy.spark_ids(spark) == Counter(copy.ids) == copy.plain_ids()
