"""What people see while a statement runs, and afterwards in Spark's UI."""

import os
import re
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from comparison import executions, items, metrics_of
from pyspark.sql import Row, SparkSession
from steps import environment, step

from spark_zorder import ZOrderTable, jar_path
from spark_zorder.progress import TerminalDisplay, describe, shown

pytestmark = [pytest.mark.older_sparks, pytest.mark.usefixtures("database")]


def create(spark: SparkSession, rows: int = 1_000) -> None:
    spark.sql(f"CREATE TABLE t USING parquet AS SELECT /*+ REPARTITION(8) */ id, id % 97 AS a FROM range({rows})")


def jobs(spark: SparkSession) -> dict[int, tuple[str, str | None]]:
    """Name and description of each job that the UI lists."""
    listed = items(spark._jsc.sc().statusStore().jobsList(None))
    return {job.jobId(): (job.name(), _of(job.description())) for job in listed}


def _of(option: Any) -> Any:
    return option.get() if option.isDefined() else None


class Watch:
    """Asks for the running statements from a second thread."""

    def __init__(self, asking: SparkSession) -> None:
        self.rows: list[Row] = []
        self._ended = threading.Event()
        self._asking = asking
        self._thread = threading.Thread(target=self._ask)

    def _ask(self) -> None:
        while not self._ended.wait(0.05):
            self.rows += self._asking.sql("SHOW OPERATIONS").collect()

    def __enter__(self) -> list[Row]:
        self._thread.start()
        return self.rows

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


@pytest.mark.test_rest
def test_a_second_thread_sees_how_far_a_statement_is(spark: SparkSession) -> None:
    create(spark, 1_000_000)
    other = spark.newSession()
    with Watch(spark) as own, Watch(other) as others:
        spark.sql("OPTIMIZE t ZORDER BY (id, a) OPTIONS ('num-files' = 4)")
    assert others == []
    assert {(row.operation, row.table) for row in own} == {("OPTIMIZE", "t")}
    assert [row.fraction for row in own] == sorted(row.fraction for row in own)
    steps = list(dict.fromkeys(row.step for row in own))
    order = ["planning", "reading footers", "rewriting", "sampling", "writing", "checking", "publishing"]
    assert steps == [step for step in order if step in steps]
    assert "writing" in steps
    assert {row.total_files for row in own if row.step == "writing"} == {4}
    assert all(0 <= row.bytes <= row.total_bytes and row.files <= row.total_files for row in own)
    assert spark.sql("SHOW OPERATIONS").collect() == []


def test_a_statement_that_fails_runs_no_longer(spark: SparkSession) -> None:
    create(spark)
    with pytest.raises(Exception, match="ZORDER_COLUMN_NOT_FOUND"):
        spark.sql("OPTIMIZE t ZORDER BY (b)")
    assert spark.sql("SHOW OPERATIONS").collect() == []


@pytest.mark.test_rest
def test_jobs_have_the_name_of_their_statement(spark: SparkSession, tmp_path: Path) -> None:
    create(spark)
    folder = tmp_path / "folder"
    spark.table("t").repartition(4).write.parquet(str(folder))
    before = jobs(spark)
    spark.sql("OPTIMIZE t ZORDER BY (id, a)")
    spark.sql(f"OPTIMIZE '{folder}' ZORDER BY (id, a) OPTIONS ('num-files' = 2)")
    spark.sql(f"SELECT count(*) FROM parquet.`{folder}`").collect()
    after = {number: job for number, job in jobs(spark).items() if number not in before}
    names = {name for name, _ in after.values()}
    assert {"OPTIMIZE t", f"OPTIMIZE '{folder}'", f"columns of {folder}"} <= names
    assert [name for name in names if ".scala" in name] == []
    described = {description for _, description in after.values()}
    assert {"OPTIMIZE t: sample", "OPTIMIZE t: write"} <= described


def test_the_description_that_a_user_sets_stays(spark: SparkSession) -> None:
    create(spark)
    context = spark.sparkContext
    context.setJobDescription("nightly")
    try:
        spark.sql("OPTIMIZE t ZORDER BY (id, a)")
        assert context.getLocalProperty("spark.job.description") == "nightly"
        assert context.getLocalProperty("callSite.short") is None
    finally:
        context._jsc.sc().setLocalProperty("spark.job.description", None)


NO_JOB = [
    "SHOW OPERATIONS",
    "SHOW CLUSTERING",
    "DESCRIBE HISTORY t",
    "DESCRIBE DETAIL t",
    "DESCRIBE CLUSTERING t",
    "REFRESH SKIPPING INDEX ON t",
    "OPTIMIZE t ZORDER BY (id, a) OPTIONS ('num-files' = 4)",
    "VACUUM t",
    "VACUUM t DRY RUN",
    "EXPLAIN SKIPPING SELECT * FROM t WHERE id = 7",
    "DESCRIBE DETAIL '{folder}'",
    "DESCRIBE HISTORY '{folder}'",
    "VACUUM '{folder}'",
    "DROP SKIPPING INDEX ON t",
    "CREATE SKIPPING INDEX ON t",
]


@pytest.mark.test_rest
def test_a_statement_that_needs_no_job_starts_none(spark: SparkSession, tmp_path: Path) -> None:
    create(spark)
    folder = tmp_path / "folder"
    spark.table("t").repartition(4).write.parquet(str(folder))
    spark.sql(f"OPTIMIZE '{folder}' ZORDER BY (id, a) OPTIONS ('num-files' = 2)")
    spark.sql("OPTIMIZE t ZORDER BY (id, a) OPTIONS ('num-files' = 4)")
    for statement in NO_JOB:
        before = jobs(spark)
        spark.sql(statement.format(folder=folder)).collect()
        # Spark's listeners are told a little later.
        spark._jsc.sc().listenerBus().waitUntilEmpty()
        assert [job for number, job in jobs(spark).items() if number not in before] == [], statement


@pytest.mark.test_rest
def test_the_sql_tab_shows_statements_with_numbers(spark: SparkSession) -> None:
    spark.sql("CREATE TABLE shown_in_ui USING parquet AS SELECT /*+ REPARTITION(8) */ id FROM range(1000)")
    for statement in (
        "OPTIMIZE shown_in_ui ZORDER BY (id) OPTIONS ('num-files' = 4)",
        "RESTORE shown_in_ui TO VERSION AS OF 0",
        "VACUUM shown_in_ui RETAIN 0 HOURS",
        "REFRESH SKIPPING INDEX ON shown_in_ui",
    ):
        spark.sql(statement)
    found = {name: values for each in executions(spark) for name, values in metrics_of(spark, each).items()}
    optimize = found["Execute OPTIMIZE shown_in_ui"]
    assert (optimize["files removed"], optimize["files added"]) == ("8", "4")
    assert "B" in optimize["size of added files"]
    assert found["Execute RESTORE shown_in_ui"]["files restored"] == "8"
    assert found["Execute VACUUM shown_in_ui"]["files deleted"] == "4"
    assert found["Execute REFRESH SKIPPING INDEX ON shown_in_ui"] == {"files with new statistics": "8"}


def row(**changes: Any) -> Row:
    values = {
        "operation": "OPTIMIZE",
        "table": "t",
        "step": "writing",
        "files": 12,
        "total_files": 24,
        "bytes": 600 << 20,
        "total_bytes": 1230 << 20,
        "fraction": 0.456,
        "seconds": 41.2,
        "seconds_left": 50.0,
    }
    return Row(**values | changes)


def test_a_bar_in_words() -> None:
    assert describe(row()) == "45 % writing, 12/24 files, 600.0 MiB of 1.2 GiB, 50 s left"
    assert describe(row(total_files=0, total_bytes=0, seconds_left=None)) == "45 % writing"
    assert describe(row(total_files=0, bytes=7, total_bytes=9, seconds_left=600.0)).endswith("7 B of 9 B, 10 min left")


def test_a_line_fits_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    display = TerminalDisplay()
    for columns in (200, 100, 60, 20):
        monkeypatch.setenv("COLUMNS", str(columns))
        display.draw(row(table="a_table_of_a_long_name" * 3))
        drawn = capsys.readouterr().err
        # A line that was longer is covered with blanks.
        assert len(drawn.lstrip("\r").rstrip()) < columns
    display.clear()
    assert capsys.readouterr().err.strip() == ""


class Picture:
    """A display that remembers what it drew."""

    def __init__(self) -> None:
        self.drawn: list[Row] = []
        self.cleared = 0

    def draw(self, drawn: Row) -> None:
        self.drawn.append(drawn)

    def clear(self) -> None:
        self.cleared += 1


@pytest.mark.test_rest
def test_the_client_draws_while_its_statement_runs(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    create(spark, 1_000_000)
    picture = Picture()
    monkeypatch.setattr("spark_zorder.progress._display", lambda _: picture)
    monkeypatch.setattr("spark_zorder.progress._FIRST", 0.05)
    result = ZOrderTable(spark, "t").optimize(["id", "a"], options={"num-files": 4})
    assert result.files_added == 4
    assert picture.drawn
    assert {drawn.operation for drawn in picture.drawn} == {"OPTIMIZE"}
    assert picture.cleared == 1


def test_a_silent_session_draws_nothing(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = Picture()
    monkeypatch.setattr("spark_zorder.progress._display", lambda _: picture)
    spark.conf.set("spark.zorder.progress.enabled", "false")
    with shown(spark, "OPTIMIZE"):
        assert threading.active_count() == threading.active_count()
    assert (picture.drawn, picture.cleared) == ([], 0)


START = """
import sys
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").config("spark.jars", sys.argv[1])
builder = builder.config("spark.sql.extensions", "org.sparkzorder.ZOrderSparkExtension")
builder = builder.config("spark.zorder.progress.enabled", sys.argv[2]).config("spark.sql.warehouse.dir", "warehouse")
spark = builder.config("spark.ui.showConsoleProgress", sys.argv[3]).getOrCreate()
rows = "SELECT /*+ REPARTITION(8) */ id, rand(1) AS a FROM range(" + sys.argv[4] + ")"
spark.sql("CREATE TABLE t USING parquet AS " + rows)
sys.stderr.write("BEGIN")
spark.sql("OPTIMIZE t ZORDER BY (a, id) OPTIONS ('num-files' = 8)")
sys.stderr.write("END")
"""


def command(enabled: str, of_spark: str, rows: int) -> list[str]:
    """Runs an OPTIMIZE in a session of its own, with our progress and with that of Spark, or without."""
    return [sys.executable, "-c", START, str(jar_path()), enabled, of_spark, str(rows)]


@pytest.mark.test_all
@pytest.mark.parametrize("enabled", ["true", "false"])
def test_a_terminal_has_one_bar_for_the_statement(tmp_path: Path, enabled: str) -> None:
    child = command(enabled, "true", 2_000_000)
    done = subprocess.run(child, cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300)
    printed = done.stderr.split("BEGIN")[1].split("END")[0]
    # Text mode makes a line of what returns to the line's beginning.
    bars = [line for line in printed.split("\n") if line.startswith("OPTIMIZE t [")]
    if enabled == "false":
        assert bars == []
    else:
        assert any(" writing, " in bar for bar in bars)
        assert all(len(bar) < 120 for bar in bars)
        # Spark's own bars begin half a second after a stage.
        assert "[Stage" not in printed
        assert printed.split("\n")[-1].strip() == ""


LOG4J = """
rootLogger.level = info
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %p %c: %m%n
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = info
"""


@pytest.mark.test_all
@pytest.mark.parametrize("enabled", ["true", "false"])
def test_a_log_has_a_line_every_ten_seconds(tmp_path: Path, enabled: str) -> None:
    gate = tmp_path / "gate"
    log = tmp_path / "log"
    (tmp_path / "log4j2.properties").write_text(LOG4J)
    options = f"--driver-java-options -Dlog4j2.configurationFile={tmp_path}/log4j2.properties pyspark-shell"
    with log.open("w") as stderr:
        child = subprocess.Popen(
            command(enabled, "false", 1000),
            cwd=tmp_path,
            stderr=stderr,
            env=os.environ | environment(step("after-staging", gate)) | {"PYSPARK_SUBMIT_ARGS": options},
        )
        try:
            while not Path(f"{gate}.reached").exists():
                assert child.poll() is None, log.read_text()
                time.sleep(0.1)
            # The statement runs for twenty seconds and more.
            time.sleep(22)
            gate.touch()
            assert child.wait(60) == 0, log.read_text()
        finally:
            child.kill()
    lines = re.findall(r"^INFO org\.sparkzorder\..*: OPTIMIZE t: checking, (\d+) %, (.*)$", log.read_text(), re.M)
    if enabled == "true":
        assert len(lines) == 2, log.read_text()[-3000:]
        assert all(re.fullmatch(r"(\d+) of \1 files, .*B of .*B, [12]\d s", words) for _, words in lines), lines
    else:
        assert lines == []
