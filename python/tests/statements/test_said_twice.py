"""What a statement lays out stays: said again it finds nothing to do, and a bare OPTIMIZE leaves it as it is."""

import os
import random
from pathlib import Path

import duckdb
import pytest
from pyspark.sql import SparkSession

from spark_zorder import OptimizeResult, ZOrderTable


def write(folder: Path, days: dict[str, list[int]], by_day: bool = True) -> None:
    """For each day one file of DuckDB for each number of rows."""
    for day, sizes in days.items():
        below = folder / f"day={day}" if by_day else folder
        below.mkdir(parents=True, exist_ok=True)
        for number, rows in enumerate(sizes):
            duckdb.sql(
                f"COPY (SELECT range * 7919 % 1000 AS a, range * 31 % 77 AS b, range AS c, 'x' || range % 9 AS s"
                f" FROM range({number * 1000000}, {number * 1000000 + rows}))"
                f" TO '{below}/{day}-{number}-{rows}.parquet' (FORMAT parquet)"
            )


def files(folder: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for file in folder.rglob("*.parquet"):
        if "_zorder" not in file.parts:
            found.setdefault(str(file.parent.relative_to(folder)), set()).add(file.name)
    return found


@pytest.mark.test_rest
def test_a_statement_about_one_day_does_not_capture_the_table(spark: SparkSession, tmp_path: Path) -> None:
    days = ["2024-01-01", "2024-01-02", "2024-01-03"]
    write(tmp_path, {day: [400] * 4 for day in days})
    table = ZOrderTable.for_path(spark, str(tmp_path))
    others = {f"day={day}" for day in days[1:]}
    before = files(tmp_path)
    table.optimize(["a", "c"], where="day = '2024-01-01'", num_files=2)
    own = files(tmp_path)["day=2024-01-01"]
    assert {k: v for k, v in files(tmp_path).items() if k in others} == {k: before[k] for k in others}
    # Without a layout of the whole table its other days are packed.
    table.optimize()
    assert files(tmp_path)["day=2024-01-01"] == own
    assert {len(files(tmp_path)[k]) for k in others} == {1}
    # A layout of the table, which no statement about a day changes.
    table.optimize(["b"], num_files=6)
    assert files(tmp_path)["day=2024-01-01"].isdisjoint(own)
    table.optimize(["a"], where="day = '2024-01-02'", num_files=3)
    before = files(tmp_path)
    assert table.optimize().files_removed == 0
    # New rows go into the layout of the table, but for the day that has its own.
    write(tmp_path, {day: [50] for day in days})
    table.optimize()
    now = files(tmp_path)
    assert now["day=2024-01-02"] == before["day=2024-01-02"] | {"2024-01-02-0-50.parquet"}
    assert now["day=2024-01-01"] != before["day=2024-01-01"]
    assert "2024-01-01-0-50.parquet" not in now["day=2024-01-01"]
    # A statement about that day goes on with its layout.
    table.optimize(where="day = '2024-01-02'")
    assert table.history().head(1)[0].operationParameters["zOrderBy"] == '["a"]'
    table.optimize(full=True)
    assert table.history().head(1)[0].operationParameters["zOrderBy"] == '["b"]'
    assert files(tmp_path)["day=2024-01-02"].isdisjoint(now["day=2024-01-02"])


@pytest.mark.test_rest
def test_after_a_restore_a_statement_does_its_work_again(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {"1": [4000] * 6, "2": [4000] * 3})
    table = ZOrderTable.for_path(spark, str(tmp_path))
    options = {"num-files": "8"}
    for columns in ([], ["a"]):
        # A day that has its share of files is left alone; the other one is not.
        first = table.optimize(columns or None, options=options, full=bool(columns))
        assert table.optimize(columns or None, options=options).files_removed == 0
        table.restore(table.history().head(1)[0].version - 1)
        assert table.optimize(columns or None, options=options).files_removed == first.files_removed


def test_a_day_of_one_file_gets_a_layout(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {"1": [400], "2": [400] * 3})
    table = ZOrderTable.for_path(spark, str(tmp_path))
    assert table.optimize(["a"], where="day = 1").files_added == 1
    assert table.optimize(["a"], where="day = 1").files_removed == 0


def test_files_that_come_with_older_times_are_seen(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "t", {"1": [4000] * 6, "2": [4000] * 3})
    write(tmp_path / "more", {"2": [5000] * 3})
    table = ZOrderTable.for_path(spark, str(tmp_path / "t"))
    assert table.optimize(num_files=8).files_removed == 6
    assert table.optimize(num_files=8).files_removed == 0
    for file in (tmp_path / "more").rglob("*.parquet"):
        os.utime(file, (1, 1))
        file.rename(tmp_path / "t" / "day=2" / f"more-{file.name}")
    assert table.optimize(num_files=8).files_removed > 0


def test_new_files_of_a_partition_with_a_layout_of_its_own_are_no_work(spark: SparkSession, database: Path) -> None:
    spark.sql("CREATE TABLE t (a INT, day INT) USING parquet PARTITIONED BY (day)")
    rows = "INSERT INTO t SELECT /*+ REPARTITION(4) */ id, {} FROM range(1000)"
    spark.sql(rows.format("id % 2"))
    table = ZOrderTable(spark, "t")
    table.optimize(["a"], num_files=4)
    table.optimize(["a"], num_files=2, where="day = 1", options={"cuts": "equal"})
    spark.sql(rows.format(1))
    assert table.optimize(dry_run=True).files_removed == 0
    [row] = spark.sql(f"SHOW CLUSTERING IN {database.name}").collect()
    assert (row.small_files, row.new_bytes, row.gain_bytes) == (0, 0, 0)
    spark.sql(rows.format(0))
    [row] = spark.sql(f"SHOW CLUSTERING IN {database.name}").collect()
    assert row.new_bytes > 0


@pytest.mark.test_rest
def test_the_summary_counts_partitions_with_a_layout_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {str(d): [300] * 3 for d in range(1, 5)})
    table = ZOrderTable.for_path(spark, str(tmp_path))
    table.optimize(["a"], num_files=8)
    assert "of their own" not in table.optimize(["b"], where="day < 3", num_files=4).summary
    own = "Partitions that keep a layout of their own: 2."
    assert table.optimize().summary.endswith(f", all as they should be. {own}")
    write(tmp_path / "day=4", {"new": [300]}, by_day=False)
    foreseen = table.optimize(dry_run=True).summary
    assert foreseen.startswith("Would rewrite ")
    assert foreseen.endswith(own)
    assert "of their own" not in table.optimize(full=True).summary


@pytest.mark.test_rest
def test_reasons_that_differ_name_their_partitions(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path, {str(d): [300] * 3 for d in range(1, 7)})
    table = ZOrderTable.for_path(spark, str(tmp_path))
    reason = "no file is known to be in this layout"
    assert table.optimize(["a"], where="day IN (1, 2)", num_files=4).metrics.strategy.reason == reason
    strategy = table.optimize(["a"], num_files=30).metrics.strategy
    assert strategy.reason == (
        f"day=1, day=2: another number of files was asked for; day=3, day=4, day=5, and 1 more: {reason}"
    )


def said(table: ZOrderTable, r: random.Random) -> tuple[str, OptimizeResult, OptimizeResult]:
    """A random statement, said twice."""
    columns = r.choice([[], [], ["a"], ["a", "b"], ["s", "b", "c"]])
    options: dict[str, str] = {}
    if r.random() < 0.8:
        options |= r.choice(
            [{"num-files": str(r.randrange(1, 30))}, {"target-file-size-bytes": str(r.randrange(2, 60) * 1000)}]
        )
    if columns and r.random() < 0.4:
        options["cuts"] = "equal"
    if r.random() < 0.2:
        options["min-input-files"] = str(r.randrange(1, 4))
    where = r.choice([None, None, "day > 2", "day IN (1, 3)"])
    first = table.optimize(columns or None, where=where, options=options)
    return f"{columns} {options} {where}", first, table.optimize(columns or None, where=where, options=options)


@pytest.mark.test_rest
@pytest.mark.parametrize("seeds", [range(12), pytest.param(range(12, 300), marks=pytest.mark.test_all)])
def test_any_statement_said_twice_finds_nothing_to_do(spark: SparkSession, tmp_path: Path, seeds: range) -> None:
    for seed in seeds:
        r = random.Random(seed)
        folder = tmp_path / str(seed)
        rows = [r.choice([40, 300, 2000]) for _ in range(3)]
        write(folder, {str(d): [r.choice(rows)] * r.randrange(1, 6) for d in range(1, r.randrange(3, 6))})
        table = ZOrderTable.for_path(spark, str(folder))
        for _ in range(2):
            words, first, second = said(table, r)
            assert second.files_removed == 0, f"{seed}: {words}: {first.summary} {second.metrics.strategy}"
