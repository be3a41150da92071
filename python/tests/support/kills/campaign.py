"""Kills on this machine's disk, at random times."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from small_tables import ROWS, SmallTable
from spark_process import SparkProcess

from kills.aims import drawn
from kills.process import Driver, until
from kills.rounds import Rounds
from kills.statements import ask
from kills.target import Target

PATIENCE = 10.0
"""How long to wait for a phase, in multiples of a statement's time."""


class Campaign(Rounds[Target]):
    """Kills after random pauses. A session of this process checks."""

    rows = ROWS
    pauses = (0.02, 0.3)

    def __init__(self, spark: SparkSession, folder: Path, seed: str, say: Callable[[str], None]) -> None:
        super().__init__(folder, seed, say)
        self._spark = spark

    def _start(self, work: Path, settings: dict[str, str]) -> SparkProcess:
        return SparkProcess(work, settings)

    def _make(self, number: int) -> Target:
        return Target(SmallTable.write(self._folder / f"t{number}", number % 2 == 1))

    def _wait(self, driver: Driver) -> None:
        aim = drawn(self._rng)
        # The approximate seconds of a statement when its classes are loaded, on this machine at this time.
        statement = min(max(0.3, driver.seconds[0] / 3), 3.0)
        self._begin(driver)
        if not aim.at_once:
            time.sleep(self._rng.uniform(0.1, 1.5) * statement)
        if aim.sought is not None:
            sought = aim.sought
            until(lambda: any(sought(t, driver.pid) for t in self._tables), PATIENCE * statement)
        time.sleep(aim.pause(self._rng) * statement)
        driver.kill()

    def _ask(self, sql: str) -> tuple[str, Any]:
        return ask(self._spark, sql)
