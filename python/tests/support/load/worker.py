"""`worker.py <role> <work> <seed>`: prints a line when ready, and after each command: `go`, `rest`, `look`, `end`."""

import json
import os
import sys
from pathlib import Path
from random import Random
from typing import Any

from local_session import SMALL, local_session
from pyspark.sql import SparkSession

from load.counts import Appending, Counting
from load.events import Events
from load.loops import Loop, Loops
from load.maintenance import Maintenance
from load.questions import everything
from load.readers import Reader, ReaderSession
from load.resources import of_files, of_jvm
from load.tables import tables

MAINTAINER, READERS, APPENDER, COUNTER = "maintainer", "readers", "appender", "counter"
ROLES = (MAINTAINER, READERS, APPENDER, COUNTER)
READERS_OF = {MAINTAINER: 4, READERS: 8}
"""The readers of a process."""


class Work:
    """The work of a process in its role: loops, and what is left when it rests and ends."""

    loops: list[Loop]

    def __init__(self, role: str, work: Path) -> None:
        self.events = Events(work / "events" / f"{role}.jsonl")
        self._all = tables(work)
        self._tables = work / "tables"

    def resources(self) -> dict[str, Any]:
        """Its resources while it rests."""
        return of_files(os.getpid(), self._tables)

    def look(self) -> dict[str, Any]:
        """Check the tables for the last time."""
        return {}

    def end(self) -> None:
        """Release everything."""


class OutsideWork(Work):
    """The appender or the counts, without Spark."""

    def __init__(self, role: str, work: Path, seed: str) -> None:
        super().__init__(role, work)
        kind = Appending if role == APPENDER else Counting
        self.loops = [kind(self._all, Random(f"{seed}/{role}"), self.events)]


class SparkWork(Work):
    """A session with the extension, readers, and statements."""

    def __init__(self, role: str, work: Path, seed: str) -> None:
        super().__init__(role, work)
        self._spark = started(work / role)
        for table in self._all:
            for sql in table.create:
                self._spark.sql(sql)
        number = READERS_OF[role]
        sessions = [ReaderSession(self._spark.newSession()) for _ in range(number // 4)]
        self._readers = [
            Reader(sessions[i % len(sessions)], self._all, Random(f"{seed}/{role}/{i}"), self.events)
            for i in range(number)
        ]
        rng = Random(f"{seed}/{role}")
        if role == MAINTAINER:
            own = [
                Maintenance(self._spark.newSession(), [table], Random(f"{seed}/{table.name}"), self.events)
                for table in self._all
            ]
        else:
            # Now and then another process runs an operation, too.
            session = self._spark.newSession()
            own = [Maintenance(session, self._all, rng, self.events, inserts=False, longest=6.0)]
        self.loops = [*self._readers, *own]

    def resources(self) -> dict[str, Any]:
        return of_jvm(self._spark, self._tables)

    def look(self) -> dict[str, Any]:
        """The exchanges of each table, and a check of all its rows by path and by name, now that nobody works on it."""
        wrong, history = [], {}
        for table in self._all:
            self._spark.sql(f"REFRESH TABLE {table.name}")
            complete, begun = table.ledger().complete(), table.ledger().begun()
            for relation in (table.source, table.name):
                for shape in ("rows", "groups", "total"):
                    sql = everything(shape).sql(relation)
                    found = everything(shape).wrong(self._spark.sql(sql).collect(), complete, begun)
                    wrong += [f"at the end, {sql}: {found}"] if found else []
            columns = ("unix_millis(timestamp)", "operation", "state", "operationMetrics['publishMillis']")
            rows = self._spark.sql(f"DESCRIBE HISTORY {table.name}").selectExpr(*columns).collect()
            history[table.name] = [list(row) for row in rows]
        return {"wrong": wrong, "history": history}

    def end(self) -> None:
        self._spark.stop()


def started(work: Path) -> SparkSession:
    """A small session with the extension."""
    # Spark remembers this number of ended jobs. By default it is larger and would look like a leak.
    few = {
        "spark.ui.retainedJobs": "20",
        "spark.ui.retainedStages": "20",
        "spark.ui.retainedTasks": "100",
        "spark.sql.ui.retainedExecutions": "20",
    }
    return local_session(work, settings=SMALL | few)


def main(role: str, work: Path, seed: str) -> None:
    # The JVM writes warnings to the output that it inherits. They go to the log.
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def say(message: dict[str, Any]) -> None:
        print(json.dumps(message, default=str), file=out, flush=True)

    doing = (OutsideWork if role in (APPENDER, COUNTER) else SparkWork)(role, work, seed)
    loops = Loops(doing.loops, doing.events)
    say({"ready": os.getpid()})
    for line in sys.stdin:
        told = line.strip()
        if told == "go":
            loops.go()
            say({})
        elif told == "rest":
            loops.rest()
            say(doing.resources())
        elif told == "look":
            say(doing.look())
        else:
            break
    loops.rest()
    doing.end()


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), sys.argv[3])
