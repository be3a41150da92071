"""Runs one load: processes start, warm up, rest, work, and rest again. Collects the results."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kills.statements import newest
from small_tables import SmallTable

from load import events
from load.counts import COUNTERS
from load.leaks import leaks
from load.process import Worker
from load.questions import everything
from load.tables import LoadTable, tables
from load.worker import MAINTAINER, ROLES
from spark_zorder._cli import tool

Say = Callable[[str], None]

WARM = 60
"""After so many queries, and a fifth as many statements, processes count as warm."""


@dataclass
class Result:
    """The results of a load.

    Attributes:
        began: When the processes were warm, in seconds since 1970. Figures count from there, checks from the start.
        first, last: The resources of each process when it was warm, and at the end.
        exchanges: From when to when files of each table were exchanged, in seconds since 1970.
        problems: Wrong answers, undocumented failures, leftovers.
    """

    seed: str
    began: float = 0.0
    ended: float = 0.0
    happened: list[dict[str, Any]] = field(default_factory=list)
    first: dict[str, dict[str, Any]] = field(default_factory=dict)
    last: dict[str, dict[str, Any]] = field(default_factory=dict)
    exchanges: dict[str, list[tuple[float, float]]] = field(default_factory=dict)
    operations: list[tuple[str, str]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)


class Campaign:
    """Runs a load by a seed, on tables in a new folder, after so many queries and a fifth as many statements."""

    def __init__(self, work: Path, seed: str, say: Say, roles: Sequence[str] = ROLES, warm: int = WARM) -> None:
        self._roles, self._warm, self._work, self._say = roles, warm, work, say
        self._workers: list[Worker] = []
        self._result = Result(seed)

    def run(self, warming: float, seconds: float) -> Result:
        """Warm up for some seconds, or until each way was tried. Then work for some more."""
        result = self._result
        (self._work / "events").mkdir(parents=True)
        for table in tables(self._work):
            table.fill()
        try:
            self._workers = [Worker(role, self._work, result.seed) for role in self._roles]
            for worker in self._workers:
                worker.answer()
            self._say("processes are ready")
            started = time.monotonic()
            result.first = self._phase(lambda: time.monotonic() > started + warming and self._is_warm())
            result.began = time.time()
            self._say(f"warm after {time.monotonic() - started:.0f} s: the load begins")
            result.last = self._phase(lambda: time.time() > result.began + seconds)
            result.ended = result.began + seconds
            self._look()
        finally:
            for worker in self._workers:
                worker.close()
        result.happened = events.read(self._work / "events")
        result.problems += [str(event["problem"]) for event in result.happened if "problem" in event]
        for role in self._roles:
            result.leaks += leaks(role, result.first[role], result.last[role])
        for table in tables(self._work):
            result.problems += wrong_in_the_end(table)
        return result

    def _phase(self, enough: Callable[[], bool]) -> dict[str, dict[str, Any]]:
        """Work until the condition holds. Returns the resources of each process after it."""
        self._told("go")
        while not enough():
            time.sleep(0.5)
        return self._told("rest")

    def _is_warm(self) -> bool:
        """Whether enough queries and statements ran to load all classes and fill all pools."""
        happened = Counter(event["what"] for event in events.read(self._work / "events"))
        return happened["query"] >= self._warm and happened["statement"] >= self._warm // 5

    def _told(self, what: str) -> dict[str, dict[str, Any]]:
        for worker in self._workers:
            worker.tell(what)
        return {worker.role: worker.answer() for worker in self._workers}

    def _look(self) -> None:
        answers = self._told("look")
        for answer in answers.values():
            self._result.problems += answer.get("wrong", [])
        for table, rows in answers[MAINTAINER]["history"].items():
            took = [(began / 1000, began / 1000 + float(millis or 0) / 1000) for began, _, _, millis in rows]
            self._result.exchanges[table] = took
            self._result.operations += [(operation, state) for _, operation, state, _ in rows]


def wrong_in_the_end(table: LoadTable) -> list[str]:
    """The problems of a table that nobody works on any more, for readers without the extension."""
    wrong = []
    complete, begun = table.ledger().complete(), table.ledger().begun()
    for name, ids in COUNTERS.items():
        if name == "pyarrow" or table.file_format == "parquet":
            found = everything("rows").wrong(ids(table)[:, None].tolist(), complete, begun)
            wrong += [f"{table.name} at the end, by {name}: {found}"] if found else []
    left = SmallTable(table.root, table.partitioned).leftovers(newest(table.root) + 1)
    wrong += [f"{table.name}: left over: {left}"] if left else []
    status = tool.run("status", str(table.root))
    if status["exitCode"] != 0 or status["state"] != "quiet":
        wrong.append(f"{table.name}: status: {status}")
    return wrong
