"""Runs one kill after the other, and checks. A kill is a `kill -9` of a process with an operation under way."""

import threading
import time
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Generic, TypeVar

from local_session import SMALL
from small_tables import SmallTable
from spark_process import SparkProcess

from kills.process import Driver, archived
from kills.s3_table import S3Table
from kills.statements import EACH_KIND, EXPECTED, statement
from kills.target import Target

SETTLED_LATER = 0.4
"""The share of killed operations whose remains the next process finds untouched."""
FALSE_STARTS = 5
FIRST_APPENDED = 1000
"""The least id of a row that is appended later."""


@dataclass
class Tally:
    """The kills, and the problems after them.

    Attributes:
        processes: The number of processes that got a SIGKILL.
        kills, exchanging: The number of these with an operation under way, by its lock file, and past its commit point.
        under_way: The killed operations by phase. A process has up to one for each table.
        at: The kills by what they waited for and by what became of it, if they waited for a request.
        checks: The number of tables that were checked after one more statement.
    """

    seed: str
    processes: int = 0
    kills: int = 0
    exchanging: int = 0
    under_way: Counter[tuple[str, str]] = field(default_factory=Counter)
    at: Counter[tuple[str, str]] = field(default_factory=Counter)
    strategies: Counter[str] = field(default_factory=Counter)
    checks: int = 0
    lost: int = 0
    doubled: int = 0
    stuck: int = 0
    false_starts: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    def line(self) -> str:
        return (
            f"{self.kills} kills, {self.under_way.total()} operations under way in them, {self.lost} rows lost, "
            f"{self.doubled} doubled, {self.stuck} tables stuck in {self.checks} checks after one more statement, "
            f"{self.seconds:.0f} seconds"
        )

    def summary(self) -> str:
        """The killed statements by phase, the problems, and the figures as the last line."""
        lines = [f"{n:5}  at {what}, {way}" for (what, way), n in sorted(self.at.items())]
        lines.append(f"{self.exchanging} kills hit an operation that was past its commit point")
        lines += [f"{n:5}  {operation}, {phase}" for (operation, phase), n in sorted(self.under_way.items())]
        lines.append(f"{self.strategies['incremental']} of {self.strategies.total()} OPTIMIZE were incremental")
        if self.processes > self.kills:
            lines.append(f"{self.processes - self.kills} processes more were killed with nothing under way")
        if self.false_starts:
            lines.append(f"{self.false_starts} processes did not start in time, and touched nothing")
        return "\n".join([*lines, *self.problems, f"seed {self.seed}: {self.line()}"])


T = TypeVar("T", Target, S3Table)


class Rounds(ABC, Generic[T]):
    """Kills by a seed. `say` gets a line for every ten kills and for each problem.

    A table's `longest_life` is a number of kills. Appended files have `rows`, and `pauses` in seconds between two.
    """

    tables_of_a_process = 6
    longest_life = 12
    rows: int
    pauses: tuple[float, float]

    def __init__(self, folder: Path, seed: str, say: Callable[[str], None]) -> None:
        self._folder = folder
        self._rng = Random(seed)
        self._say = say
        self._numbers = count()
        self._next_id = FIRST_APPENDED
        self._options = ""
        self._tables: list[T] = []
        self.tally = Tally(seed)

    @abstractmethod
    def _start(self, work: Path, settings: dict[str, str]) -> SparkProcess:
        """Start a process."""

    @abstractmethod
    def _make(self, number: int) -> T:
        """Make a table."""

    @abstractmethod
    def _wait(self, driver: Driver) -> None:
        """Wait for the moment to kill, and kill."""

    @abstractmethod
    def _ask(self, sql: str) -> tuple[str, Any]:
        """As `statements.ask`, of another process."""

    def run(self, enough: Callable[[Tally], bool], *, share: bool = False) -> Tally:
        """Kill until `enough` holds, and check every table that was hit. `share` saves time with many kills."""
        began = time.monotonic()
        with ThreadPoolExecutor(1) as starts:
            if share:
                table = self._make(next(self._numbers))
                statements = [sql.format(table.known.source) for sql in EACH_KIND]
                self._options = archived(self._start, self._folder, statements)
                table.remove()
            following: Future[Driver] = starts.submit(self._driver)
            try:
                while not enough(self.tally):
                    # The next process starts while this one works and its tables are checked.
                    started, following = following, starts.submit(self._driver)
                    driver = self._started(started)
                    if driver is None:
                        continue
                    tens = self.tally.kills // 10
                    self._round(driver)
                    self.tally.seconds = time.monotonic() - began
                    if self.tally.kills // 10 > tens:
                        self._say(self.tally.line())
            finally:
                last = self._started(following)
                if last is not None:
                    last.kill()
            for table in self._tables:
                if table.unsettled:
                    self._settle(table)
        self.tally.seconds = time.monotonic() - began
        return self.tally

    def _driver(self) -> Driver:
        work = self._folder / f"driver{next(self._numbers)}"
        settings = SMALL | ({"spark.driver.extraJavaOptions": self._options} if self._options else {})
        process = self._start(work, settings)
        # Without these, most kills would hit the loading of classes.
        own = SmallTable.write(work / "own", False)
        return Driver(process, work, [sql.format(own.source) for sql in EACH_KIND])

    def _started(self, starting: Future[Driver]) -> Driver | None:
        """The process, or None if it did not start on a machine that is too busy."""
        try:
            return starting.result()
        except AssertionError as error:
            self.tally.false_starts += 1
            self._say(f"a process did not start: {error}")
            if self.tally.false_starts > FALSE_STARTS:
                raise
            return None

    def _round(self, driver: Driver) -> None:
        while len(self._tables) < self.tables_of_a_process:
            self._tables.append(self._make(next(self._numbers)))
        self._work_and_kill(driver)
        self.tally.processes += 1
        said = driver.said()
        for failed in (s for s in said if "sql" in s):
            self._problem(f"{failed['sql']}: {failed['message']}")
        self.tally.strategies += Counter(s["strategy"] for s in said if "strategy" in s)
        driver.remove()
        hit = [(table, table.killed(driver.pid)) for table in self._tables]
        phases = [found for _, found in hit if found is not None]
        self.tally.under_way.update(phases)
        self.tally.kills += bool(phases)
        self.tally.exchanging += any("exchanging" in phase or phase == "cleaning up" for _, phase in phases)
        for table, found in hit:
            table.unsettled = table.unsettled or found is not None
            plain, expected = table.plain_ids(), Counter(table.ids)
            # Only now: a record goes after its files were exchanged.
            most = Counter(dict.fromkeys(table.ids, 2)) if table.is_exchanging else expected
            self._judge(table, f"as {found} left it", expected - plain, plain - most)
            table.kills += 1
            if table.unsettled and self._rng.random() >= SETTLED_LATER:
                self._settle(table)
        for table in [t for t in self._tables if t.kills >= self.longest_life and not t.unsettled]:
            self._tables.remove(table)
            table.remove()

    def _work_and_kill(self, driver: Driver) -> None:
        stop = threading.Event()
        appending = threading.Thread(target=self._append, args=(stop, Random(self._rng.random())))
        appending.start()
        try:
            self._wait(driver)
        finally:
            stop.set()
            appending.join()

    def _begin(self, driver: Driver) -> None:
        driver.begin(f"{self.tally.seed}/{self.tally.processes}", [table.known for table in self._tables])

    def _append(self, stop: threading.Event, rng: Random) -> None:
        while not stop.wait(rng.uniform(*self.pauses)):
            ids = range(self._next_id, self._next_id + self.rows)
            self._next_id += self.rows
            rng.choice(self._tables).append(ids, rng)

    def _settle(self, table: T) -> None:
        """Run one more statement. After it, no remains of a kill may be left."""
        source = table.known.source
        everything = f"SELECT id FROM {source}"
        sql = self._rng.choice((everything, f"DESCRIBE HISTORY {source}", statement(table.known, self._rng)))
        expected = Counter(table.ids)
        condition, answer = self._ask(sql)
        if condition and condition not in EXPECTED:
            self.tally.stuck += 1
            self._problem(f"{source}: {sql}: {answer}")
        left = table.left_over()
        if left:
            self.tally.stuck += 1
            self._problem(f"{source}: left over after {sql}: {left}")
        found = {f"for a plain reader after {sql}": table.plain_ids()}
        found[f"for Spark after {sql}"] = Counter(self._ask(everything)[1])
        if sql == everything and not condition:
            found[f"in the answer to {sql}"] = Counter(answer)
        for when, ids in found.items():
            self._judge(table, when, expected - ids, ids - expected)
        table.unsettled = False
        self.tally.checks += 1

    def _judge(self, table: T, when: str, lost: Counter[int], doubled: Counter[int]) -> None:
        self.tally.lost += lost.total()
        self.tally.doubled += doubled.total()
        if lost or doubled:
            self._problem(f"{table.known.source}: {lost.total()} rows lost, {doubled.total()} doubled, {when}")

    def _problem(self, text: str) -> None:
        self.tally.problems.append(text)
        self._say(text)
