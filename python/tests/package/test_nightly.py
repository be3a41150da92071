"""`python -m spark_zorder status --schema`, `optimize`, `vacuum` and `history` over tables of all kinds."""

import json
import sys
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from golden import snapshot
from processes import printed, ran
from pyspark.sql import SparkSession
from rival import Rival
from servers import confs

from spark_zorder import ZOrderTable
from spark_zorder._cli import nightly
from spark_zorder._cli.main import main
from spark_zorder._cli.nightly_outcome import COLUMNS, Outcome, Selected, Watcher, exit_code


def fill(spark: SparkSession) -> None:
    """Tables that need an OPTIMIZE, tables that do not, and what is no table of ours, in the current database."""
    rows = "SELECT /*+ REPARTITION({n}, id) */ id, pmod(hash(id), 1000) AS a FROM range({rows})"
    by = "TBLPROPERTIES ('zorder.optimize.by' = 'a, id'"
    size = ", 'zorder.target-file-size-bytes' = '20KB')"
    spark.sql(f"CREATE TABLE clustered USING parquet {by}{size} AS " + rows.format(n=8, rows=20000))
    spark.sql("CREATE TABLE packed USING orc AS " + rows.format(n=6, rows=600))
    spark.sql(
        f"CREATE TABLE off USING parquet {by}, 'zorder.maintenance.enabled' = 'FALSE') AS " + rows.format(n=4, rows=40)
    )
    spark.sql("CREATE TABLE one USING parquet AS " + rows.format(n=1, rows=40))
    spark.sql(
        "CREATE TABLE parts USING parquet PARTITIONED BY (p) AS "
        "SELECT /*+ REPARTITION(2, id) */ *, id % 3 AS p FROM clustered"
    )
    spark.sql("CREATE TABLE empty (a INT) USING parquet")
    spark.sql("CREATE TABLE odd_name USING parquet AS " + rows.format(n=3, rows=30))
    spark.sql("CREATE TABLE js USING json AS SELECT 1 AS a")
    spark.sql("CREATE VIEW v AS SELECT * FROM packed")


def breaks(spark: SparkSession, database: Path) -> None:
    """A table whose files are no Parquet, and one whose property is wrong."""
    spark.sql("CREATE TABLE broken USING parquet AS SELECT /*+ REPARTITION(2, id) */ id FROM range(10)")
    for file in (database / "broken").glob("part-*"):
        file.write_bytes(b"PAR1 and nothing else PAR1")
    spark.sql("CREATE TABLE wrong USING parquet TBLPROPERTIES ('zorder.optimize.by' = 'missing') AS SELECT 1 AS a")


class Seen(Watcher):
    """Keeps what it is told."""

    def __init__(self, seen: list[tuple[int, int, str]]) -> None:
        self._seen = seen

    def end(self, number: int, of: int, outcome: Outcome) -> None:
        self._seen.append((number, of, outcome.outcome))


def of(outcomes: list[Outcome]) -> dict[str, str]:
    return {o.table.split(".", 1)[1]: o.outcome for o in outcomes}


def rows(spark: SparkSession) -> dict[str, int]:
    names = [r.tableName for r in spark.sql("SHOW TABLES").collect() if r.tableName not in ("broken", "wrong")]
    return {name: spark.table(f"`{name}`").count() for name in names}


@pytest.mark.test_rest
def test_it_optimizes_what_needs_it_and_nothing_the_second_time(spark: SparkSession, database: Path) -> None:
    fill(spark)
    before = rows(spark)
    selected = Selected((database.name,))
    told = {row.table.split(".", 1)[1]: row for row in nightly.states(spark, selected)}
    assert told["clustered"].layout == "ZORDER BY (a, id)"
    assert told["clustered"].new_bytes == told["clustered"].bytes > 0
    assert told["v"].state == "not ours: it is a view"
    assert told["js"].state.startswith("not ours: ")
    assert told["one"].small_files == 0
    seen: list[tuple[int, int, str]] = []
    outcomes = nightly.optimize(spark, selected, progress=Seen(seen))
    found = of(outcomes)
    optimized = {name for name, outcome in found.items() if outcome == "optimized"}
    assert optimized == {"clustered", "packed", "parts", "odd_name"}
    assert found["off"] == "skipped"
    assert exit_code(outcomes) == 0
    assert [n for n, _, _ in seen] == list(range(1, len(outcomes) + 1))
    assert rows(spark) == before
    again = nightly.optimize(spark, selected)
    assert set(of(again).values()) <= {"skipped", "nothing"}
    assert exit_code(again) == 0


@pytest.mark.test_rest
def test_a_dry_run_changes_nothing(spark: SparkSession, database: Path) -> None:
    fill(spark)
    before = snapshot(database)
    outcomes = nightly.optimize(spark, Selected((database.name,)), dry_run=True)
    assert of(outcomes)["clustered"] == "foreseen"
    assert snapshot(database) == before


@pytest.mark.test_rest
def test_a_table_that_fails_does_not_stop_the_others(spark: SparkSession, database: Path) -> None:
    fill(spark)
    breaks(spark, database)
    outcomes = nightly.optimize(spark, Selected((database.name,)))
    found = of(outcomes)
    assert found["clustered"] == "optimized"
    assert found["wrong"] == "failed"
    assert exit_code(outcomes) == 1


@pytest.mark.test_all
def test_a_locked_table_is_left_and_all_locked_is_told(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    fill(spark)
    rival = Rival(tmp_path / "rival")
    try:
        held = rival.pause(f"OPTIMIZE parquet.`{database}/clustered` ZORDER BY (a)", "after-staging-all")
        held.wait_until_paused()
        [state] = [r.state for r in nightly.states(spark, Selected((), ("clustered",)))]
        assert state.startswith("locked by OPTIMIZE ")
        alone = nightly.optimize(spark, Selected((), ("clustered",)))
        assert of(alone) == {"clustered": "locked"}
        assert exit_code(alone) == 3
        everything = nightly.optimize(spark, Selected((database.name,)))
        assert of(everything)["packed"] == "optimized"
        assert exit_code(everything) == 0
        held.release()
        assert held.error() is None
    finally:
        rival.kill()


@pytest.mark.test_all
def test_what_a_kill_left_half_published_is_recovered(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    fill(spark)
    rival = Rival(tmp_path / "rival")
    rival.pause(f"OPTIMIZE parquet.`{database}/clustered` ZORDER BY (a)", "reveal-1").wait_until_paused()
    rival.kill()
    [state] = [row.state for row in nightly.states(spark, Selected((), ("clustered",)))]
    assert state.startswith("half published")
    assert exit_code(nightly.optimize(spark, Selected((), ("clustered",)))) == 0
    assert rows(spark)["clustered"] == 20000


@pytest.mark.test_rest
def test_two_nightly_runs_at_once_lose_nothing(spark: SparkSession, database: Path) -> None:
    fill(spark)
    before = rows(spark)
    ended: list[list[Outcome]] = []
    selected = Selected((database.name,))
    sessions = [spark.newSession(), spark.newSession()]
    threads = [threading.Thread(target=lambda s=s: ended.append(nightly.optimize(s, selected))) for s in sessions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert len(ended) == 2
    assert not [o for out in ended for o in out if o.outcome not in ("optimized", "nothing", "locked", "skipped")]
    assert rows(spark) == before


@pytest.mark.test_rest
def test_budgets(spark: SparkSession, database: Path) -> None:
    fill(spark)
    ticks = iter([0.0, 1.0, 100.0, 200.0, 300.0, 400.0, 500.0])
    outcomes = nightly.optimize(spark, Selected((database.name,)), seconds=50, clock=lambda: next(ticks))
    assert [o.outcome for o in outcomes][1:] == ["skipped"] * (len(outcomes) - 1)
    assert outcomes[0].outcome in ("optimized", "skipped")
    small = nightly.optimize(spark, Selected((database.name,)), max_bytes=1)
    assert {o.message for o in small} == {"the bytes are used up"}
    assert exit_code(small) == 0


@pytest.mark.test_rest
def test_the_most_gain_for_each_byte_comes_first(spark: SparkSession, database: Path) -> None:
    fill(spark)
    needy = [r for r in nightly.states(spark, Selected((database.name,))) if r.new_bytes and r.gain_bytes]
    ratio = {r.table: r.gain_bytes / r.new_bytes for r in needy}
    order = [o.table for o in nightly.optimize(spark, Selected((database.name,)), dry_run=True)]
    assert order == sorted(order, key=lambda t: -ratio[t])


@pytest.mark.test_rest
def test_vacuum(spark: SparkSession, database: Path) -> None:
    fill(spark)
    selected = Selected((database.name,))
    nightly.optimize(spark, selected)
    trash = {r.table: r.trash_bytes for r in nightly.states(spark, selected) if r.trash_bytes}
    assert len(trash) == 4
    foreseen = nightly.vacuum(spark, selected, retain_hours=0, dry_run=True)
    assert {o.outcome for o in foreseen} == {"foreseen"}
    assert {o.outcome for o in nightly.vacuum(spark, selected, retain_hours=0)} == {"vacuumed"}
    assert not any(r.trash_bytes for r in nightly.states(spark, selected))
    assert nightly.vacuum(spark, selected) == []


@pytest.mark.test_all
def test_the_command_line_starts_its_own_session(tmp_path: Path) -> None:
    settings = {
        "spark.sql.warehouse.dir": str(tmp_path / "warehouse"),
        "spark.sql.catalogImplementation": "hive",
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={tmp_path}/metastore;create=true",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
    }
    make = """
import sys
from pyspark.sql import SparkSession
builder = SparkSession.builder.master("local[2]")
for setting in sys.argv[1:]:
    key, _, value = setting.partition("=")
    builder = builder.config(key, value)
spark = builder.getOrCreate()
spark.sql("CREATE DATABASE nights")
for name in ("one", "two"):
    spark.range(2000).repartition(6).write.saveAsTable(f"nights.{name}")
"""
    printed([sys.executable, "-c", make, *(f"{key}={value}" for key, value in settings.items())], tmp_path)

    def cli(*arguments: str) -> tuple[int, str, str]:
        done = ran([sys.executable, "-m", "spark_zorder", *arguments, *confs(settings)], tmp_path)
        return done.returncode, done.stdout, done.stderr

    code, out, err = cli("status", "--schema", "nights", "--json")
    assert code == 0, err[-2000:]
    told = json.loads(out)
    assert [set(t) for t in told] == [set(COLUMNS)] * 2
    assert {t["table"] for t in told} == {"nights.one", "nights.two"}
    code, out, err = cli("optimize", "--schema", "nights", "--budget", "1h")
    assert code == 0, err[-2000:]
    assert sorted(line.split(": ")[1].split(".")[0] for line in out.splitlines()) == ["optimized", "optimized"]
    code, out, _ = cli("optimize", "--schema", "nights", "--json")
    assert (code, json.loads(out)) == (0, {"exitCode": 0, "tables": []})
    code, out, _ = cli("history", "nights.one", "--json")
    assert [entry["operation"] for entry in json.loads(out)] == ["OPTIMIZE"]
    code, out, err = cli("status", "--schema", "no_such_schema")
    assert code == 1
    assert "SCHEMA_NOT_FOUND" in err


@pytest.mark.test_rest
def test_a_table_that_is_not_there_is_an_error_and_names_may_have_their_database(
    spark: SparkSession, database: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(spark)
    monkeypatch.setattr("spark_zorder._cli.nightly_session.start", lambda settings, remote: spark)
    for names in (["typo"], ["packed", "typo"], [f"{database.name}.typo"]):
        assert main(["optimize", *(word for name in names for word in ("--table", name))]) == 1
        assert "there is no table" in capsys.readouterr().err
    spark.sql("USE default")
    assert main(["optimize", "--table", f"{database.name}.packed"]) == 0
    assert ".packed: optimized." in capsys.readouterr().out
    spark.sql(f"USE {database.name}")


@pytest.mark.test_rest
def test_an_error_of_java_stops_no_other(spark: SparkSession, database: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(spark)
    whole = ZOrderTable.optimize

    def breaks_once(table: ZOrderTable, **arguments: Any) -> Any:
        if "packed" in table.target:
            jvm: Any = spark._jvm
            jvm.java.util.ArrayList().get(5)
        return whole(table, **arguments)

    monkeypatch.setattr(ZOrderTable, "optimize", breaks_once)
    found = of(nightly.optimize(spark, Selected((database.name,))))
    assert found["packed"] == "failed"
    assert found["clustered"] == "optimized"


@pytest.mark.parametrize(
    "arguments",
    [
        ["status"],
        ["status", "/path", "--schema", "s"],
        ["optimize", "--budget", "soon"],
        ["optimize", "--max-bytes", "much"],
        ["optimize", "--conf", "no-value"],
        ["vacuum", "--retain-hours", "-1"],
        ["history"],
        ["history", "t", "--limit", "-1"],
        ["nights"],
        ["status", "--schema", ""],
        ["optimize", "--table", "a..b"],
        ["optimize", "--table", "`a"],
        ["status", "/path", "--check"],
        ["optimize", "--budget", "-1h"],
    ],
)
def test_wrong_usage_exits_with_2_and_starts_nothing(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(("catalog", "is_told"), [("in-memory", True), ("hive", False)])
@pytest.mark.parametrize("command", ["status", "optimize", "vacuum"])
def test_no_table_in_a_catalog_in_memory_is_explained(
    spark: SparkSession,
    database: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: str,
    catalog: str,
    is_told: bool,
) -> None:
    class OfAnotherCatalog:
        """The session of the test, which says that its catalog is another one."""

        conf = SimpleNamespace(get=lambda key, default=None: catalog if "catalogImpl" in key else default)

        def __getattr__(self, name: str) -> Any:
            return getattr(spark, name)

    monkeypatch.setattr("spark_zorder._cli.nightly_session.start", lambda settings, remote: OfAnotherCatalog())
    assert main([command, "--schema", database.name]) == 0
    assert ("--conf spark.sql.catalogImplementation=hive" in capsys.readouterr().err) == is_told


@pytest.mark.test_rest
def test_the_printed_table_has_a_line_for_each(
    spark: SparkSession, database: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(spark)
    ZOrderTable(spark, "clustered").optimize()
    monkeypatch.setattr("spark_zorder._cli.nightly_session.start", lambda settings, remote: spark)
    assert main(["status", "--schema", database.name]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split()[:4] == ["TABLE", "STATE", "FILES", "SIZE"]
    assert len(lines) == 1 + len(spark.sql("SHOW TABLES").collect())
    [line] = [text for text in lines if ".clustered " in text]
    assert "ZORDER BY (a, id)" in line
    assert main(["status", "--table", f"{database.name}.clustered", "--json"]) == 0
    told: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert [list(t) for t in told] == [list(COLUMNS)]
    assert main(["optimize", "--table", "packed"]) == 0
    assert ".packed: optimized. 6 → 1 file" in capsys.readouterr().out
    assert main(["optimize", "--table", "packed"]) == 0
    assert capsys.readouterr().out == "Nothing to do.\n"
    assert main(["vacuum", "--table", "packed", "--retain-hours", "0"]) == 0
    assert main(["history", f"{database.name}.packed"]) == 0
    assert "6 → 1" in capsys.readouterr().out
