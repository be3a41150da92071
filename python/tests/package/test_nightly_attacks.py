"""Odd things that happen to the nightly tool: tables that vanish, budgets of nothing, a lost session, closed output."""

import json
import os
import signal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from night_process import Night
from processes import wait_until
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession
from steps import step

from spark_zorder import ZOrderTable
from spark_zorder._cli import nightly
from spark_zorder._cli.nightly_outcome import Outcome, Selected, Watcher, exit_code
from spark_zorder._cli.nightly_output import say


def fill(spark: SparkSession, *names: str) -> None:
    for name in names:
        spark.sql(f"CREATE TABLE {name} USING parquet AS SELECT /*+ REPARTITION(3, id) */ id FROM range(30)")


def of(outcomes: list[Outcome]) -> dict[str, tuple[str, str]]:
    return {o.table.split(".", 1)[1]: (o.outcome, o.message) for o in outcomes}


def test_a_table_that_is_dropped_midway_is_skipped(spark: SparkSession, database: Path) -> None:
    fill(spark, "one", "two")

    class Dropping(Watcher):
        def begin(self, number: int, of: int, row: Row) -> None:
            if row.table.endswith(".two"):
                spark.sql(f"DROP TABLE {row.table}")

    outcomes = nightly.optimize(spark, Selected((database.name,)), progress=Dropping())
    assert of(outcomes)["two"] == ("skipped", "it was dropped or renamed meanwhile")
    assert of(outcomes)["one"][0] == "optimized"
    assert exit_code(outcomes) == 0


def test_a_dropped_table_is_skipped(spark: SparkSession, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(spark, "one", "two", "three")
    for name in ("two", "three"):
        spark.sql(f"ALTER TABLE {name} SET TBLPROPERTIES ('zorder.target-file-size-bytes' = 'many')")
    look = nightly.states

    def look_and_drop(session: SparkSession, selected: Selected) -> list[Row]:
        rows = look(session, selected)
        session.sql("DROP TABLE two")
        return rows

    monkeypatch.setattr(nightly, "states", look_and_drop)
    outcomes = nightly.optimize(spark, Selected((database.name,)))
    assert of(outcomes)["one"][0] == "optimized"
    assert of(outcomes)["two"] == ("skipped", "it was dropped or renamed meanwhile")
    assert of(outcomes)["three"][0] == "failed"


class HalfDoneError(PySparkException):
    """What a statement says whose exchange of files did not come to its end."""

    def getCondition(self) -> str:  # noqa: N802
        return "ZORDER_OPERATION_FAILED.HALF_WAY"

    getErrorClass = getCondition  # noqa: N815


def test_a_renamed_table_has_failed(spark: SparkSession, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(spark, "one")

    def rename(table: ZOrderTable, **arguments: Any) -> None:
        spark.sql("ALTER TABLE one RENAME TO other")
        raise HalfDoneError("the next statement ends it")

    monkeypatch.setattr(ZOrderTable, "optimize", rename)
    outcomes = nightly.optimize(spark, Selected((database.name,)))
    outcome, message = of(outcomes)["one"]
    assert outcome == "failed"
    assert message.startswith("it was dropped or renamed meanwhile, and the statement ended half way: ")
    assert exit_code(outcomes) == 1


def test_status_check_tells_damaged_footers_before_any_optimize(spark: SparkSession, database: Path) -> None:
    fill(spark, "whole", "broken")
    for file in (database / "broken").glob("part-*"):
        file.write_bytes(b"PAR1 and nothing else PAR1")
    rows = nightly.states(spark, Selected((database.name,)))
    assert {row.state for row in rows} == {"ok"}
    checked = {row.table.split(".")[1]: row for row in nightly.checked(spark, rows)}
    assert checked["whole"].state == "ok"
    assert checked["broken"].state.startswith("error: [ZORDER_NOT_A_DATA_FILE]")
    assert checked["broken"].files == 3


def test_budgets_of_nothing_and_schemas_named_twice(spark: SparkSession, database: Path) -> None:
    fill(spark, "one", "two")
    twice = Selected((database.name, database.name.upper()))
    assert len(nightly.states(spark, twice)) == 2
    for limits in ({"seconds": 0.0}, {"max_bytes": 0}):
        outcomes = nightly.optimize(spark, twice, **limits)
        assert [o.outcome for o in outcomes] == ["skipped", "skipped"]
        assert exit_code(outcomes) == 0
    named = nightly.states(spark, Selected((), (f"spark_catalog.{database.name}.`one`",)))
    assert [row.table for row in named] == [f"{database.name}.one"]


def test_without_session_the_rest_fails(spark: SparkSession, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(spark, "one", "two", "three")
    tried: list[str] = []

    def lose(table: ZOrderTable, **arguments: Any) -> None:
        tried.append(table.target)
        raise PySparkException("the connection is gone")

    monkeypatch.setattr(ZOrderTable, "optimize", lose)
    monkeypatch.setattr(nightly, "is_alive", lambda session: False)
    outcomes = nightly.optimize(spark, Selected((database.name,)))
    assert len(tried) == 1
    assert [o.message for o in outcomes] == ["the connection is gone", "the session ended", "the session ended"]
    assert exit_code(outcomes) == 1


def test_closed_output_is_no_error() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as stream:
        say("a line", stream)
        say("another", stream)


@pytest.mark.test_all
def test_sigterm_ends_the_run_and_the_next_one_does_the_rest(tmp_path: Path) -> None:
    (tmp_path / "t").mkdir()
    for n in range(3):
        pq.write_table(pa.table({"id": list(range(n, 300, 3))}), tmp_path / "t" / f"{n}.parquet")
    statements = tmp_path / "statements.json"
    create = f"CREATE TABLE s.t (id BIGINT) USING parquet LOCATION '{tmp_path}/t'"
    statements.write_text(json.dumps(["CREATE DATABASE s", create]))
    gate = tmp_path / "gate"
    night = Night(tmp_path / "first", statements, "optimize", "--schema", "s", asked=step("after-staging-all", gate))
    wait_until(lambda: Path(f"{gate}.reached").exists() or night.process.poll() is not None, "the step", 300)
    assert night.process.poll() is None, night.log()
    night.process.send_signal(signal.SIGTERM)
    code, _, log = night.end(120)
    assert code == 143, log
    assert "Stopped. The next statement on a table undoes what is not finished there." in log
    code, out, log = Night(tmp_path / "second", statements, "optimize", "--schema", "s").end()
    assert (code, ": optimized. 3 → 1 file" in out) == (0, True), log
    [found] = (tmp_path / "t").glob("*.parquet")
    assert sorted(pq.read_table(found)["id"].to_pylist()) == list(range(300))
