"""Runs one kill on S3 after the other, and checks."""

from __future__ import annotations

import json
import os
import shutil
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random

from child_process import is_running
from s3_server import Request, S3Server
from spark_process import SparkProcess

from kills.campaign import FALSE_STARTS, FIRST_APPENDED, Tally
from kills.process import SECONDS, until
from kills.s3_aims import drawn
from kills.s3_table import ROWS, S3Table
from kills.s3_work import statement
from kills.statements import EXPECTED

TABLES = 4
"""The number of tables of a process."""
LONGEST_LIFE = 10
"""The number of kills after which a new table replaces a table."""
SETTLED_LATER = 0.4
"""The share of killed operations whose remains the next process finds untouched."""
PATIENCE = 30.0
"""The seconds to wait for a request."""


@dataclass
class S3Tally(Tally):
    """As `Tally`, with the requests at which processes were killed.

    Attributes:
        at: The kills by kind of request and by what became of it.
        exchanging: The kills with an operation past its commit point.
    """

    at: Counter[tuple[str, str]] = field(default_factory=Counter)
    exchanging: int = 0

    def summary(self) -> str:
        """The kills by request, then as on file systems."""
        lines = [f"{n:5}  at {what}, {way}" for (what, way), n in sorted(self.at.items())]
        lines.append(f"{self.exchanging} kills hit an operation that was past its commit point")
        return "\n".join([*lines, super().summary()])


class _Driver:
    """A process that works on tables until it is killed."""

    def __init__(self, server: S3Server, work: Path, name: str, options: str) -> None:
        self.name = name
        self._out = work / "out"
        self._work = work
        # The access key tells its requests from those of others.
        settings = {"spark.hadoop.fs.s3a.access.key": name, "spark.driver.memory": "1g"}
        settings |= {"spark.driver.extraJavaOptions": options} if options else {}
        self._process = server.spark(work, settings=settings | {"spark.sql.shuffle.partitions": "2"})
        self.pid = int(self._process.run("result = spark._jvm.java.lang.ProcessHandle.current().pid()"))

    def begin(self, tables: list[tuple[str, int]], seed: str) -> None:
        self._process.run(
            f"from kills.s3_work import begin\nbegin(spark, {tables!r}, {seed!r}, {str(self._out)!r})\nresult = None"
        )

    def kill_jvm(self) -> None:
        """Kill what sends requests. `kill` follows."""
        os.kill(self.pid, signal.SIGKILL)

    def kill(self) -> None:
        """Kill all of it. After this, it sends no request any more."""
        self._process.kill()
        ended = until(lambda: not is_running(self.pid), SECONDS)
        assert ended, f"{self.pid} outlived kill -9"

    def ended(self) -> list[dict[str, str]]:
        """What it said of the statements that ended. A kill may have cut the last line."""
        lines = self._out.read_text().split("\n")[:-1] if self._out.exists() else []
        return [json.loads(line) for line in lines]

    def remove(self) -> None:
        shutil.rmtree(self._work)


class S3Campaign:
    """Kills by a seed. `say` gets a line for every ten kills and for each problem."""

    def __init__(self, server: S3Server, folder: Path, seed: str, say: Callable[[str], None]) -> None:
        self._server = server
        self._folder = folder
        self._rng = Random(seed)
        self._say = say
        self._numbers = count()
        self._next_id = FIRST_APPENDED
        self._tables: list[S3Table] = []
        self._options = ""
        self.tally = S3Tally(seed)

    def run(self, enough: Callable[[Tally], bool], *, share: bool = False) -> S3Tally:
        """Kill until `enough` holds, and check every table that was hit.

        Args:
            enough: Says when to stop.
            share: Whether to make an archive of classes first, which saves time with many kills.
        """
        began = time.monotonic()
        with ThreadPoolExecutor(1) as starts, self._server.spark(self._folder / "checker") as checker:
            if share:
                self._options = self._archive()
            following: Future[_Driver] = starts.submit(self._driver)
            try:
                while not enough(self.tally):
                    started = following
                    # The next process starts while this one works and its tables are checked.
                    following = starts.submit(self._driver)
                    driver = self._started(started)
                    if driver is None:
                        continue
                    tens = self.tally.kills // 10
                    self._round(driver, checker)
                    self.tally.seconds = time.monotonic() - began
                    if self.tally.kills // 10 > tens:
                        self._say(self.tally.line())
            finally:
                last = self._started(following)
                if last is not None:
                    last.kill()
            for table in self._tables:
                if table.unsettled:
                    self._settle(table, checker)
        self.tally.seconds = time.monotonic() - began
        return self.tally

    def _driver(self) -> _Driver:
        name = f"driver{next(self._numbers)}"
        return _Driver(self._server, self._folder / name, name, self._options)

    def _started(self, starting: Future[_Driver]) -> _Driver | None:
        """The process, or None if it did not start on a machine that is too busy."""
        try:
            return starting.result()
        except AssertionError as error:
            self.tally.false_starts += 1
            self._say(f"a process did not start: {error}")
            if self.tally.false_starts > FALSE_STARTS:
                raise
            return None

    def _archive(self) -> str:
        """Java options with which a process starts sooner, because an archive holds its classes."""
        archive = self._folder / "classes.jsa"
        table = S3Table(self._server, "archive", partitioned=False)
        options = {"spark.driver.extraJavaOptions": f"-XX:ArchiveClassesAtExit={archive} -Xlog:disable"}
        making: SparkProcess = self._server.spark(self._folder / "archive", settings=options)
        making.sql(f"OPTIMIZE {table.source} ZORDER BY (a) OPTIONS ('num-files' = '2')")
        making.sql(f"RESTORE {table.source} TO VERSION AS OF 0")
        making.sql(f"VACUUM {table.source} RETAIN 0 HOURS")
        pid = int(making.run("result = spark._jvm.java.lang.ProcessHandle.current().pid()"))
        making.end()
        until(lambda: not is_running(pid), SECONDS)
        table.remove()
        return f"-XX:SharedArchiveFile={archive} -Xshare:auto -Xlog:disable"

    def _round(self, driver: _Driver, checker: SparkProcess) -> None:
        while len(self._tables) < TABLES:
            number = next(self._numbers)
            self._tables.append(S3Table(self._server, f"t{number}", number % 2 == 1))
        self._work_and_kill(driver)
        self.tally.processes += 1
        ended = driver.ended()
        for e in ended:
            if "sql" in e and e["error"] not in EXPECTED:
                self._problem(f"{e['sql']}: {e['message']}")
        self.tally.strategies += Counter(e["strategy"] for e in ended if "strategy" in e)
        driver.remove()
        hit = [(table, table.killed(driver.pid)) for table in self._tables]
        phases = [found for _, found in hit if found is not None]
        self.tally.under_way.update(phases)
        self.tally.kills += bool(phases)
        self.tally.exchanging += any("exchanging" in phase or phase == "cleaning up" for _, phase in phases)
        for table, found in hit:
            table.unsettled = table.unsettled or found is not None
            self._judge(table, f"as {found} left it", *table.wrong_as_it_lies())
            table.kills += 1
            if table.unsettled and self._rng.random() >= SETTLED_LATER:
                self._settle(table, checker)
        for table in [t for t in self._tables if t.kills >= LONGEST_LIFE and not t.unsettled]:
            self._tables.remove(table)
            table.remove()

    def _work_and_kill(self, driver: _Driver) -> None:
        aim, which, way, pause = drawn(self._rng)
        reached, seen, lock = threading.Event(), count(1), threading.Lock()

        def watch(request: Request) -> tuple[int, str] | None:
            own = f"Credential={driver.name}/" in request.headers.get("authorization", "")
            if not own:
                return None
            if reached.is_set():
                # It may have been sent while the process died.
                return None
            with lock:
                if not aim.sought(request) or next(seen) != which or reached.is_set():
                    return None
                if way != "done":
                    driver.kill_jvm()
                reached.set()
            return (500, "InternalError") if way == "lost" else None

        self._server.fault = watch
        stop = threading.Event()
        appending = threading.Thread(target=self._append, args=(stop, Random(self._rng.random())))
        appending.start()
        try:
            driver.begin([(t.source, t.newest()) for t in self._tables], f"{self.tally.seed}/{self.tally.processes}")
            found = reached.wait(PATIENCE)
            time.sleep(pause)
            driver.kill()
        finally:
            stop.set()
            appending.join()
            self._server.fault = None
        # A request that was on its way takes effect, so that the check finds the table at rest.
        assert until(lambda: not self._server.under_way[driver.name], SECONDS)
        self.tally.at[(aim.name if found else "no such request", way)] += 1

    def _append(self, stop: threading.Event, rng: Random) -> None:
        while not stop.wait(rng.uniform(0.5, 3)):
            ids = range(self._next_id, self._next_id + ROWS)
            self._next_id += ROWS
            table = rng.choice(self._tables)
            table.append(rng.choice(table.folders), ids)

    def _settle(self, table: S3Table, checker: SparkProcess) -> None:
        """Run one more statement. After it, no remains of a kill may be left."""
        sql = self._rng.choice(
            (
                f"SELECT id FROM {table.source}",
                f"DESCRIBE HISTORY {table.source}",
                statement(table.source, table.newest(), self._rng),
            )
        )
        expected = Counter(table.ids)
        condition, answer = checker.run(
            "from comparison import condition_of\n"
            "from py4j.protocol import Py4JJavaError\n"
            "from pyspark.errors import PySparkException\n"
            f"try: result = ['', [row[0] for row in spark.sql({sql!r}).collect()]]\n"
            "except (PySparkException, Py4JJavaError) as error: result = [condition_of(error), str(error)[:3000]]"
        )
        if condition and condition not in EXPECTED:
            self.tally.stuck += 1
            self._problem(f"{table.name}: {sql}: {answer}")
        elif not condition and sql.startswith("SELECT id"):
            found = Counter(answer)
            self._judge(table, f"in the answer to {sql}", expected - found, found - expected)
        left = table.left_over()
        if left:
            self.tally.stuck += 1
            self._problem(f"{table.name}: left over after {sql}: {left}")
        ours = Counter(checker.run(f"result = [r[0] for r in spark.sql('SELECT id FROM {table.source}').collect()]"))
        for reader, found in (("a plain reader", table.plain_ids()), ("Spark", ours)):
            self._judge(table, f"for {reader} after {sql}", expected - found, found - expected)
        table.unsettled = False
        self.tally.checks += 1

    def _judge(self, table: S3Table, when: str, lost: Counter[int], doubled: Counter[int]) -> None:
        self.tally.lost += lost.total()
        self.tally.doubled += doubled.total()
        if lost or doubled:
            self._problem(f"{table.name}: {lost.total()} rows lost, {doubled.total()} doubled, {when}: {table.keys()}")

    def _problem(self, text: str) -> None:
        self.tally.problems.append(text)
        self._say(text)
