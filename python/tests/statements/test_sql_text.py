"""The SQL that the methods of `ZOrderTable` write."""

import os
import re
import time
from collections.abc import Callable
from datetime import date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any, cast
from unittest import mock

import numpy as np
import pytest
from pyspark.sql import DataFrame

from spark_zorder import ZOrderTable, explain_skipping, show_clustering, show_operations
from spark_zorder.names import quote_name, quote_string


class Recorder:
    """A session that only remembers the last statement. What it returns has one row, whatever is asked of it."""

    def __init__(self) -> None:
        self.statement = ""

    def sql(self, sqlQuery: str, /) -> DataFrame:  # noqa: N803
        self.statement = sqlQuery
        row = mock.MagicMock(num_removed_files=0, num_restored_files=0, num_of_files_after_restore=0, files=0, bytes=0)
        row.table_size_after_restore = 0
        return cast("DataFrame", mock.Mock(collect=lambda: [row]))


def written(run: Callable[[ZOrderTable], object], target: str = "db.t") -> str:
    recorder = Recorder()
    run(ZOrderTable(recorder, target))
    return recorder.statement


@pytest.mark.parametrize(
    ("run", "statement"),
    [
        (lambda t: t.optimize(), "OPTIMIZE `db`.`t`"),
        (lambda t: t.optimize(full=True), "OPTIMIZE `db`.`t` FULL"),
        (lambda t: t.optimize(["a", "s.x"]), "OPTIMIZE `db`.`t` ZORDER BY (`a`, `s`.`x`)"),
        (lambda t: t.optimize(("a b", "`c.d`.e")), "OPTIMIZE `db`.`t` ZORDER BY (`a b`, `c.d`.`e`)"),
        (lambda t: t.optimize({"a": 2, "b": 0.5}), "OPTIMIZE `db`.`t` ZORDER BY (`a` WEIGHT 2, `b` WEIGHT 0.5)"),
        (
            lambda t: t.optimize(hilbert_by={"a": 2, "b": 1}),
            "OPTIMIZE `db`.`t` HILBERT BY (`a` WEIGHT 2, `b` WEIGHT 1)",
        ),
        (lambda t: t.optimize(hilbert_by=["a"], full=True), "OPTIMIZE `db`.`t` FULL HILBERT BY (`a`)"),
        (lambda t: t.optimize(order_by=["a", "b"]), "OPTIMIZE `db`.`t` ORDER BY (`a`, `b`)"),
        (lambda t: t.optimize({"a": 1e-7}), "OPTIMIZE `db`.`t` ZORDER BY (`a` WEIGHT 0.0000001)"),
        (lambda t: t.optimize(["a"], where="day > '2024'"), "OPTIMIZE `db`.`t` WHERE day > '2024' ZORDER BY (`a`)"),
        (
            lambda t: t.optimize(["city", "c d.size"], joins={"c d": "a = b", "db.e": "x = e.y -- z"}, where="p = 1"),
            "OPTIMIZE `db`.`t` JOIN `c d` ON a = b JOIN `db`.`e` ON x = e.y -- z\n\n WHERE p = 1 "
            "ZORDER BY (`city`, `c d`.`size`)",
        ),
        (lambda t: t.optimize(where="p = 1 -- x", dry_run=True), "OPTIMIZE `db`.`t` WHERE p = 1 -- x\n\n DRY RUN"),
        (
            lambda t: t.optimize(["a"], options={"num-files": 64, "rewrite-all": True, "compression": "it's"}),
            "OPTIMIZE `db`.`t` ZORDER BY (`a`) OPTIONS ('num-files' = '64', 'rewrite-all' = 'true', "
            r"'compression' = 'it\'s')",
        ),
        (
            lambda t: t.optimize(["a"], num_files=8, target_file_size="128MB", compression="zstd", retain_hours=0),
            "OPTIMIZE `db`.`t` ZORDER BY (`a`) OPTIONS ('num-files' = '8', 'target-file-size-bytes' = '128MB', "
            "'compression' = 'zstd', 'retain-hours' = '0')",
        ),
        (
            lambda t: t.optimize(target_file_size=np.int64(4096), options={"cuts": "equal", "rewrite-all": False}),
            "OPTIMIZE `db`.`t` OPTIONS ('target-file-size-bytes' = '4096', 'cuts' = 'equal', 'rewrite-all' = 'false')",
        ),
        (lambda t: t.optimize(auto=True), "OPTIMIZE `db`.`t` ZORDER BY AUTO"),
        (lambda t: t.optimize(dry_run=True), "OPTIMIZE `db`.`t` DRY RUN"),
        (
            lambda t: t.optimize(["a"], options={"num-files": 2}, dry_run=True),
            "OPTIMIZE `db`.`t` ZORDER BY (`a`) OPTIONS ('num-files' = '2') DRY RUN",
        ),
        (
            lambda t: t.optimize(auto=True, full=True, options={"hot-ranges": True}),
            "OPTIMIZE `db`.`t` FULL ZORDER BY AUTO OPTIONS ('hot-ranges' = 'true')",
        ),
        (lambda t: t.describe_detail(), "DESCRIBE DETAIL `db`.`t`"),
        (lambda t: t.create_skipping_index(), "CREATE SKIPPING INDEX ON `db`.`t`"),
        (
            lambda t: t.create_skipping_index("a", "s.x", replace=True),
            "CREATE OR REPLACE SKIPPING INDEX ON `db`.`t` (`a`, `s`.`x`)",
        ),
        (lambda t: t.refresh_skipping_index(), "REFRESH SKIPPING INDEX ON `db`.`t`"),
        (lambda t: t.drop_skipping_index(), "DROP SKIPPING INDEX ON `db`.`t`"),
        (lambda t: t.clear_skipping_memory(), "CLEAR SKIPPING MEMORY ON `db`.`t`"),
        (lambda t: t.describe_skipping_index(), "DESCRIBE SKIPPING INDEX ON `db`.`t`"),
        (lambda t: t.describe_clustering(), "DESCRIBE CLUSTERING `db`.`t`"),
        (lambda t: t.describe_clustering("a", "b"), "DESCRIBE CLUSTERING `db`.`t` (`a`, `b`)"),
        (lambda t: t.describe_history(), "DESCRIBE HISTORY `db`.`t`"),
        (lambda t: t.history(), "DESCRIBE HISTORY `db`.`t`"),
        (lambda t: t.detail(), "DESCRIBE DETAIL `db`.`t`"),
        (lambda t: t.restore(0), "RESTORE `db`.`t` TO VERSION AS OF 0"),
        (lambda t: t.restore(timestamp="yesterday's"), r"RESTORE `db`.`t` TO TIMESTAMP AS OF 'yesterday\'s'"),
        (lambda t: t.restore(timestamp=date(2026, 3, 1)), "RESTORE `db`.`t` TO TIMESTAMP AS OF '2026-03-01'"),
        (
            lambda t: t.restore(timestamp=datetime(2026, 3, 1, 12, 30, 0, 250, timezone(timedelta(hours=-3)))),
            "RESTORE `db`.`t` TO TIMESTAMP AS OF '2026-03-01 12:30:00.000250-03:00'",
        ),
        (lambda t: t.vacuum(), "VACUUM `db`.`t`"),
        (lambda t: t.vacuum(0, dry_run=True), "VACUUM `db`.`t` RETAIN 0 HOURS DRY RUN"),
        (lambda t: t.vacuum(retain_hours=0.5), "VACUUM `db`.`t` RETAIN 0.5 HOURS"),
        (lambda t: t.vacuum(1e-7), "VACUUM `db`.`t` RETAIN 0.0000001 HOURS"),
        (lambda t: t.vacuum(np.float64(0.5)), "VACUUM `db`.`t` RETAIN 0.5 HOURS"),
    ],
)
def test_a_method_writes_its_statement(run: Callable[[ZOrderTable], object], statement: str) -> None:
    assert written(run) == statement


@pytest.mark.parametrize(
    ("run", "statement"),
    [
        (lambda session: explain_skipping(session, " SELECT 1; "), "EXPLAIN SKIPPING SELECT 1"),
        (show_operations, "SHOW OPERATIONS"),
        (lambda session: show_clustering(session, "my db"), "SHOW CLUSTERING IN `my db`"),
        (show_clustering, "SHOW CLUSTERING"),
    ],
)
def test_a_function_writes_its_statement(run: Callable[[Recorder], object], statement: str) -> None:
    recorder = Recorder()
    run(recorder)
    assert recorder.statement == statement


def test_a_query_in_sql_alone_needs_an_active_session(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: recorder)
    explain_skipping("SELECT 1")
    assert recorder.statement == "EXPLAIN SKIPPING SELECT 1"
    monkeypatch.setattr("pyspark.sql.SparkSession.getActiveSession", lambda: None)
    with pytest.raises(RuntimeError, match=r"no session is active in this thread: .*explain_skipping\(spark, query\)"):
        explain_skipping("SELECT 1")


def test_a_datetime_without_a_zone_is_in_that_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Kathmandu")
    time.tzset()
    try:
        statement = written(lambda t: t.restore(timestamp=datetime(2026, 3, 1, 12, 30)))
    finally:
        monkeypatch.undo()
        time.tzset()
    assert statement == "RESTORE `db`.`t` TO TIMESTAMP AS OF '2026-03-01 12:30:00+05:45'"


@pytest.mark.parametrize(
    ("path", "file_format", "target"),
    [
        ("/a b/c", None, "'/a b/c'"),
        ("/a'b\\c", None, r"'/a\'b\\c'"),
        ("/a`b/c.d", "parquet", "`parquet`.`/a``b/c.d`"),
        ("s3a://bucket/t", "orc", "`orc`.`s3a://bucket/t`"),
        ("s3a://bucket/a b/it's", None, r"'s3a://bucket/a b/it\'s'"),
        ("hdfs://namenode:8020/t", "parquet", "`parquet`.`hdfs://namenode:8020/t`"),
        ("hdfs:///t", None, "'hdfs:///t'"),
    ],
)
def test_a_folder_is_a_target(path: str, file_format: str | None, target: str) -> None:
    assert ZOrderTable.for_path(Recorder(), path, file_format).target == target


@pytest.mark.parametrize("name", ["", ".", "a.", ".a", "a..b", "`a", "a`b", "`a`b", "``"])
def test_what_is_no_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="not a name"):
        quote_name(name)


def test_names_and_strings_are_quoted() -> None:
    assert quote_name("`a``b`.c") == "`a``b`.`c`"
    assert quote_string("it's a \\") == r"'it\'s a \\'"


@pytest.mark.parametrize(
    ("run", "error", "words"),
    [
        (lambda t: t.optimize("a"), TypeError, "not a string"),
        (lambda t: t.optimize([]), ValueError, "no column"),
        (lambda t: t.optimize({"a": 0}), ValueError, "weight of a"),
        (lambda t: t.optimize(["a"], hilbert_by=["a"]), ValueError, "zorder_by and hilbert_by"),
        (lambda t: t.optimize(hilbert_by="a"), TypeError, "hilbert_by"),
        (lambda t: t.optimize(order_by={"a": 2}), TypeError, "without weights"),
        (lambda t: t.optimize(order_by=[]), ValueError, "order_by names no column"),
        (lambda t: t.optimize({"a": float("nan")}), ValueError, "weight of a"),
        (lambda t: t.optimize(["a"], auto=True), ValueError, "one layout at a time, not zorder_by and auto"),
        (
            lambda t: t.optimize(num_files=8, options={"Num-Files": 8}),
            ValueError,
            "num_files and the option 'Num-Files'",
        ),
        (lambda t: t.restore(), TypeError, "a version or a timestamp, and not both"),
        (lambda t: t.optimize(["a"], joins="customer"), TypeError, "joins is a dict"),
        (lambda t: t.optimize(["a"], joins={"c..d": "a = b"}), ValueError, "not a name"),
        (lambda t: t.restore(1, timestamp="2026-03-01"), TypeError, "a version or a timestamp, and not both"),
        (lambda t: t.restore(timestamp=5), TypeError, "timestamp must be a text, a datetime or a date, not 5"),
        (lambda t: t.restore(-1), ValueError, "version"),
        (lambda t: t.restore("1"), ValueError, "version"),
        (lambda t: t.vacuum(True), ValueError, "retain_hours"),
        (lambda t: t.vacuum(-0.5), ValueError, "retain_hours must be a number, 0 or more, not -0.5"),
        (lambda t: t.vacuum(float("nan")), ValueError, "retain_hours"),
        (lambda t: t.vacuum(float("inf")), ValueError, "retain_hours"),
        (lambda t: t.vacuum("12"), ValueError, "retain_hours"),
        (lambda t: t.describe_history(-1), ValueError, "limit must be a whole number, 0 or more, not -1"),
        (lambda t: t.describe_history(limit=1.5), ValueError, "limit"),
    ],
)
def test_wrong_arguments_are_refused(run: Callable[[ZOrderTable], object], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        written(run)


def test_a_path_is_a_path_however_it_is_given() -> None:
    assert ZOrderTable.for_path(Recorder(), Path("/data/t"), "parquet").target == "`parquet`.`/data/t`"
    assert ZOrderTable(Recorder(), "parquet.`/a.b/c`").target == "`parquet`.`/a.b/c`"
    with pytest.raises(ValueError, match="empty"):
        ZOrderTable.for_path(Recorder(), "")
    paths: list[Any] = ["/data/t", Path("/data/t")]
    for path in paths:
        with pytest.raises(ValueError, match=r"is a path: write ZOrderTable.for_path\(spark, '/data/t'\)"):
            ZOrderTable(Recorder(), path)


def test_a_path_of_another_library_is_its_url() -> None:
    class CloudPath(os.PathLike[str]):
        def __fspath__(self) -> str:
            raise AssertionError("it downloads the folder")

        def __str__(self) -> str:
            return "s3://bucket/t"

    assert ZOrderTable.for_path(Recorder(), CloudPath()).target == "'s3://bucket/t'"


@pytest.mark.parametrize("url", ["s3a://bucket/t", "hdfs://namenode:8020/t", "file:///t"])
def test_a_pathlib_path_of_a_url_is_refused(url: str) -> None:
    with pytest.raises(ValueError, match=r"a pathlib\.Path loses a slash of a URL: give the URL of '\w+:/\w"):
        ZOrderTable.for_path(Recorder(), Path(url))
    assert ZOrderTable.for_path(Recorder(), url).target == f"'{url}'"
    with pytest.raises(ValueError, match=re.escape(f"write ZOrderTable.for_path(spark, '{url}')")):
        ZOrderTable(Recorder(), url)


@pytest.mark.parametrize("query", [5, b"SELECT 1", ["SELECT 1"]])
def test_a_query_that_is_no_query_is_named_by_its_type(query: object) -> None:
    with pytest.raises(TypeError, match=rf"the query is of type {type(query).__name__}, and must be SQL"):
        explain_skipping(cast("Any", object()), cast("Any", query))
