"""Runs one kill after the other, and checks. A kill is a `kill -9` of a process with an operation under way."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from comparison import condition_of
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from small_tables import ROWS, SmallTable

from kills.aims import Aim, drawn
from kills.process import Driver, DriverNotStartedError, until
from kills.statements import EXPECTED, statement
from kills.target import Target

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = 6
"""The number of tables of a process."""
LONGEST_LIFE = 12
"""The number of kills after which a new table replaces a table."""
SETTLED_LATER = 0.4
"""The share of killed operations whose remains the next process finds untouched."""
PATIENCE = 10.0
"""How long to wait for a phase, in multiples of a statement's time."""
FALSE_STARTS = 5
FIRST_APPENDED = 1000
"""The least id of a row that is appended later."""


@dataclass
class Tally:
    """The kills, and the problems after them.

    Attributes:
        processes: The number of processes that got a SIGKILL.
        kills: The number of these with an operation under way, from its lock file.
        under_way: The killed operations by phase. A process has up to one for each table.
        strategies: The strategy of each OPTIMIZE that ended.
        checks: The number of tables that were checked after one more statement.
    """

    seed: str
    processes: int = 0
    kills: int = 0
    under_way: Counter[tuple[str, str]] = field(default_factory=Counter)
    strategies: Counter[str] = field(default_factory=Counter)
    checks: int = 0
    lost: int = 0
    doubled: int = 0
    stuck: int = 0
    false_starts: int = 0
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    def line(self) -> str:
        """The figures so far."""
        return (
            f"{self.kills} kills, {self.under_way.total()} operations under way in them, {self.lost} rows lost, "
            f"{self.doubled} doubled, {self.stuck} tables stuck in {self.checks} checks after one more statement, "
            f"{self.seconds:.0f} seconds"
        )

    def summary(self) -> str:
        """The killed statements by phase, the problems, and the figures as the last line."""
        lines = [f"{n:5}  {operation}, {phase}" for (operation, phase), n in sorted(self.under_way.items())]
        lines.append(
            f"{self.strategies['incremental']} of {self.strategies.total()} OPTIMIZE that ended were incremental"
        )
        if self.processes > self.kills:
            lines.append(f"{self.processes - self.kills} processes more were killed with nothing under way")
        if self.false_starts:
            lines.append(f"{self.false_starts} processes did not start in time, and touched nothing")
        return "\n".join([*lines, *self.problems, f"seed {self.seed}: {self.line()}"])


class Campaign:
    """Kills by a seed. `say` gets a line for every ten kills and for each problem."""

    def __init__(
        self, spark: SparkSession, folder: Path, seed: str, say: Callable[[str], None], java_options: str = ""
    ) -> None:
        self._spark = spark
        self._folder = folder
        self._rng = Random(seed)
        self._say = say
        self._java_options = java_options
        self._numbers = count()
        self._next_id = FIRST_APPENDED
        self._targets: list[Target] = []
        self.tally = Tally(seed)

    def run(self, enough: Callable[[Tally], bool]) -> Tally:
        """Kill until `enough` holds, and check every table that was hit."""
        began = time.monotonic()
        following = self._driver()
        try:
            while not enough(self.tally):
                # The next process starts while the tables of the last one are checked.
                current, following = following, self._driver()
                tens = self.tally.kills // 10
                self._round(current)
                self.tally.seconds = time.monotonic() - began
                if self.tally.kills // 10 > tens:
                    self._say(self.tally.line())
        finally:
            following.close()
        for target in self._targets:
            if target.unsettled:
                self._settle(target)
        self.tally.seconds = time.monotonic() - began
        return self.tally

    def _driver(self) -> Driver:
        return Driver(self._folder / f"driver-{next(self._numbers)}", self._java_options)

    def _round(self, driver: Driver) -> None:
        try:
            pid = driver.pid()
        except DriverNotStartedError as error:
            driver.close()
            self.tally.false_starts += 1
            if self.tally.false_starts > FALSE_STARTS:
                raise
            self._say(f"a process did not start: {error}")
            return
        while len(self._targets) < TABLES:
            number = next(self._numbers)
            self._targets.append(Target(SmallTable.write(self._folder / f"t{number}", number % 2 == 1)))
        self._work_and_kill(driver, pid)
        self.tally.processes += 1
        for failed in driver.errors():
            self._problem(failed)
        self.tally.strategies += driver.strategies()
        driver.remove()
        operations = self.tally.under_way.total()
        for target in self._targets:
            found = target.killed(pid)
            if found is not None:
                self.tally.under_way[found] += 1
                target.unsettled = True
            self._judge(target, f"as {found} left it", *target.wrong_as_it_lies())
            target.kills += 1
            if target.unsettled and self._rng.random() >= SETTLED_LATER:
                self._settle(target)
        if self.tally.under_way.total() > operations:
            self.tally.kills += 1
        for target in [t for t in self._targets if t.kills >= LONGEST_LIFE and not t.unsettled]:
            self._targets.remove(target)
            target.remove()

    def _work_and_kill(self, driver: Driver, pid: int) -> None:
        aim = drawn(self._rng)
        stop = threading.Event()
        appending = threading.Thread(target=self._append, args=(stop, Random(self._rng.random())))
        appending.start()
        try:
            roots = [t.root for t in self._targets]
            driver.begin(f"{self.tally.seed}/{self.tally.processes}", roots)
            self._wait(aim, pid, driver.statement)
            driver.kill()
        finally:
            stop.set()
            appending.join()
            driver.close()

    def _wait(self, aim: Aim, pid: int, statement: float) -> None:
        if not aim.at_once:
            time.sleep(self._rng.uniform(0.1, 1.5) * statement)
        if aim.sought is not None:
            sought = aim.sought
            until(lambda: any(sought(t, pid) for t in self._targets), PATIENCE * statement)
        time.sleep(aim.pause(self._rng) * statement)

    def _append(self, stop: threading.Event, rng: Random) -> None:
        while not stop.wait(rng.uniform(0.02, 0.3)):
            ids = range(self._next_id, self._next_id + ROWS)
            self._next_id += ROWS
            rng.choice(self._targets).append(ids, rng)

    def _settle(self, target: Target) -> None:
        """Run one more statement. After it, no remains of a kill may be left."""
        table = target.table
        sql = self._rng.choice(
            (f"SELECT id FROM {table.source}", f"DESCRIBE HISTORY {table.source}", statement(table.root, self._rng))
        )
        expected = Counter(target.ids)
        try:
            rows = self._spark.sql(sql).collect()
            if sql.startswith("SELECT id"):
                found = Counter(row[0] for row in rows)
                self._judge(target, f"in the answer to {sql}", expected - found, found - expected)
        except (PySparkException, Py4JJavaError) as error:
            if condition_of(error) not in EXPECTED:
                self.tally.stuck += 1
                self._problem(f"{table.root}: {sql}: {error}")
        # A process that dies after it deleted the lock leaves an empty folder.
        left = [name for name in table.leftovers(1000) if name != "_zorder" or any((table.root / name).iterdir())]
        if left:
            self.tally.stuck += 1
            self._problem(f"{table.root}: left over after {sql}: {left}")
        for reader, found in (("pyarrow", table.plain_ids()), ("Spark", table.spark_ids(self._spark))):
            self._judge(target, f"for {reader} after {sql}", expected - found, found - expected)
        target.unsettled = False
        self.tally.checks += 1

    def _judge(self, target: Target, when: str, lost: Counter[int], doubled: Counter[int]) -> None:
        self.tally.lost += lost.total()
        self.tally.doubled += doubled.total()
        if lost or doubled:
            self._problem(f"{target.root}: {lost.total()} rows lost, {doubled.total()} doubled, {when}")

    def _problem(self, text: str) -> None:
        self.tally.problems.append(text)
        self._say(text)
