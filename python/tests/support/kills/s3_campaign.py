"""Kills on S3, at requests that a proxy sees."""

import threading
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

from s3_server import Request, S3Server
from spark_process import SparkProcess

from kills.process import SECONDS, Driver, until
from kills.rounds import Rounds, Tally
from kills.s3_aims import drawn
from kills.s3_table import ROWS, S3Table

PATIENCE = 30.0
"""The seconds to wait for a request at least."""


class S3Campaign(Rounds[S3Table]):
    """Kills at requests. Another process with the extension checks."""

    tables_of_a_process = 4
    longest_life = 10
    rows = ROWS
    pauses = (0.5, 3)

    def __init__(self, server: S3Server, folder: Path, seed: str, say: Callable[[str], None]) -> None:
        super().__init__(folder, seed, say)
        self._server = server

    def run(self, enough: Callable[[Tally], bool], *, share: bool = False) -> Tally:
        with self._server.spark(self._folder / "checker") as self._checker:
            return super().run(enough, share=share)

    def _start(self, work: Path, settings: dict[str, str]) -> SparkProcess:
        # The access key tells its requests from those of others.
        return self._server.spark(work, settings=settings | {"spark.hadoop.fs.s3a.access.key": work.name})

    def _make(self, number: int) -> S3Table:
        return S3Table(self._server, f"t{number}", number % 2 == 1)

    def _wait(self, driver: Driver) -> None:
        aim, which, way, pause = drawn(self._rng)
        reached, seen, lock = threading.Event(), count(1), threading.Lock()

        def watch(request: Request) -> tuple[int, str] | None:
            # Once it was reached, a request may have been sent while the process died.
            if reached.is_set() or f"Credential={driver.name}/" not in request.headers.get("authorization", ""):
                return None
            with lock:
                if not aim.sought(request) or next(seen) != which or reached.is_set():
                    return None
                if way != "done":
                    driver.kill_jvm()
                reached.set()
            return (500, "InternalError") if way == "lost" else None

        with self._server.disturbed(watch):
            self._begin(driver)
            # On a busy machine a statement takes longer.
            found = reached.wait(max(PATIENCE, 10 * driver.seconds[0]))
            time.sleep(pause)
            driver.kill()
        # A request that was on its way takes effect, so that the check finds the table at rest.
        assert until(lambda: not self._server.under_way[driver.name], SECONDS)
        self.tally.at[(aim.name if found else "no such request", way)] += 1

    def _ask(self, sql: str) -> tuple[str, Any]:
        condition, answer = self._checker.run(f"from kills.statements import ask\nresult = ask(spark, {sql!r})")
        return condition, answer
