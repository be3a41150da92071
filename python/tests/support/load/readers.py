"""Readers with the extension. Each asks one question after the other and names the table in one of many ways."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import count
from random import Random
from typing import Any

from comparison import ERRORS, condition_of
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from load.events import RIGHT, WRONG, Events
from load.failures import is_of_query
from load.questions import Question, drawn
from load.tables import LoadTable

WAYS = ("path", "path", "load", "catalog", "catalog", "frame", "frame", "pattern", "cached", "again")
"""The ways to name a table. Each question draws one of them."""
TRIES = 10
"""How often a query is repeated if its files are gone. The documentation says that a repetition helps."""
LONGEST_HELD = 15.0
"""The seconds for which a DataFrame is used again."""

_threads = count()


@dataclass
class Held:
    """A relation that was made earlier and is queried now, until a new one replaces it.

    `begun` is None if it may also have later batches.
    """

    relation: str
    complete: frozenset[int]
    begun: frozenset[int] | None
    until: float


@dataclass
class Asked:
    """A query that ran already, to be collected again."""

    frame: DataFrame
    question: Question
    complete: frozenset[int]
    until: float


@dataclass
class ReaderSession:
    """A session that several readers share. Its catalog has the tables.

    `refreshed` are batches of each table that were complete before the session listed it last. Spark caches listings of
    the catalog's tables, so later batches are seen only after a REFRESH or an exchange.
    """

    spark: SparkSession
    refreshed: dict[str, frozenset[int]] = field(default_factory=dict)

    def refresh(self, table: LoadTable) -> None:
        complete = table.ledger().complete()
        self.spark.sql(f"REFRESH TABLE {table.name}")
        self.refreshed[table.name] = self.refreshed.get(table.name, frozenset()) | complete


class Reader:
    """One of the readers, with its own DataFrames."""

    def __init__(self, session: ReaderSession, tables: Sequence[LoadTable], rng: Random, events: Events) -> None:
        self._session, self._spark, self._tables, self._rng, self._events = session, session.spark, tables, rng, events
        self._number = next(_threads)
        self._held: dict[tuple[str, str], Held] = {}
        self._asked: dict[str, Asked] = {}
        self._make: dict[str, Callable[[LoadTable], Held]] = {
            "path": self._path,
            "load": self._load,
            "catalog": self._catalog,
            "frame": self._frame,
            "pattern": self._pattern,
            "cached": self._cached,
        }

    def pause(self) -> float:
        return self._rng.uniform(0, 0.3)

    def rest(self) -> None:
        for way, table in list(self._held):
            self._forget(way, table)
        self._asked.clear()

    def step(self) -> None:
        self.ask(self._rng.choice(WAYS), self._rng.choice(self._tables))

    def ask(self, way: str, table: LoadTable) -> None:
        """Ask a question. Repeat it where the documentation says that this helps."""
        question = drawn(self._rng, table.ledger().complete(), table.partitioned)
        if way == "again":
            self._ask_again(table)
            return
        # After an error about missing files, the next try may work.
        for again in range(TRIES + 1):
            if self._try(way, table, question, again):
                return
        began = time.time()
        problem = f"{TRIES} tries failed one after the other: {way}, {table.name}, {question.condition}"
        self._events.add("query", began, WRONG, way=way, table=table.name, kind=question.kind, problem=problem)

    def _try(self, way: str, table: LoadTable, question: Question, again: int) -> bool:
        """Try once. Returns whether there was an answer, right or wrong, or an error that is not repeated."""
        began = time.time()
        about: dict[str, Any] = {"way": way, "table": table.name, "kind": question.kind, "again": again}
        try:
            held = self._named(way, table)
            frame = self._spark.sql(question.sql(held.relation))
            answer = frame.collect()
        except ERRORS as error:
            self._failed(error, began, question.sql(way), about)
            self._forget(way, table.name)
            return False
        begun = table.ledger().begun() if held.begun is None else held.begun
        self._say(question, answer, held.complete, begun, began, about)
        if way != "cached":
            lasts = time.monotonic() + self._rng.uniform(0, LONGEST_HELD)
            self._asked.setdefault(table.name, Asked(frame, question, held.complete, lasts))
        return True

    def _ask_again(self, table: LoadTable) -> None:
        """Collect an earlier query again. Its plan is as it was, and so are its files."""
        asked = self._asked.get(table.name)
        if asked is None:
            return
        began = time.time()
        about = {"way": "again", "table": table.name, "kind": asked.question.kind, "again": 0}
        try:
            answer = asked.frame.collect()
        except ERRORS as error:
            self._failed(error, began, asked.question.condition, about)
            del self._asked[table.name]
            return
        self._say(asked.question, answer, asked.complete, table.ledger().begun(), began, about)
        if time.monotonic() > asked.until:
            del self._asked[table.name]

    def _say(
        self,
        question: Question,
        answer: Sequence[Sequence[Any]],
        complete: frozenset[int],
        begun: frozenset[int],
        began: float,
        about: dict[str, Any],
    ) -> None:
        ended = time.time()
        wrong = question.wrong(answer, complete, begun)
        if wrong is None:
            self._events.add("query", began, RIGHT, answered=ended, **about)
        else:
            sql = question.sql(about["way"])
            self._events.add("query", began, WRONG, answered=ended, problem=f"{about}: {sql}: {wrong}", **about)

    def _failed(self, error: PySparkException | Py4JJavaError, began: float, what: str, about: dict[str, Any]) -> None:
        condition = condition_of(error)
        if is_of_query(condition, str(error), about["way"]):
            self._events.add("query", began, condition, **about)
        else:
            self._events.add("query", began, condition, problem=f"{about}: {what}: {str(error)[:6000]}", **about)

    def _named(self, way: str, table: LoadTable) -> Held:
        held = self._held.get((way, table.name))
        if held is None or time.monotonic() > held.until:
            self._forget(way, table.name)
            held = self._held[way, table.name] = self._make[way](table)
        return held

    def _forget(self, way: str, table: str) -> None:
        held = self._held.pop((way, table), None)
        if held is not None and held.relation.startswith("held_"):
            if way == "cached":
                self._spark.sql(f"UNCACHE TABLE IF EXISTS {held.relation}")
            self._spark.catalog.dropTempView(held.relation)

    def _view(self, way: str, table: LoadTable) -> str:
        return f"held_{way}_{table.name}_{self._number}"

    def _lasts(self) -> float:
        return time.monotonic() + self._rng.uniform(0, LONGEST_HELD)

    def _path(self, table: LoadTable) -> Held:
        return Held(table.source, table.ledger().complete(), None, 0)

    def _load(self, table: LoadTable) -> Held:
        return self._frame_of(table, "load", str(table.root), 0)

    def _frame(self, table: LoadTable) -> Held:
        return self._frame_of(table, "frame", str(table.root), self._lasts())

    def _frame_of(self, table: LoadTable, way: str, path: str, until: float) -> Held:
        complete, view = table.ledger().complete(), self._view(way, table)
        reader = self._spark.read.format(table.file_format)
        if way == "pattern":
            reader = reader.option("basePath", str(table.root))
        reader.load(path).createOrReplaceTempView(view)
        return Held(view, complete, None, until)

    def _pattern(self, table: LoadTable) -> Held:
        # It has the rows that its files had when it was made.
        held = self._frame_of(table, "pattern", table.pattern, self._lasts())
        held.begun = table.ledger().begun()
        return held

    def _catalog(self, table: LoadTable) -> Held:
        if table.name not in self._session.refreshed or self._rng.random() < 0.5:
            self._session.refresh(table)
        return Held(table.name, self._session.refreshed[table.name], None, 0)

    def _cached(self, table: LoadTable) -> Held:
        complete, view = table.ledger().complete(), self._view("cached", table)
        # A column of its own. Otherwise Spark would answer other queries of the same plan from this cache.
        self._spark.sql(f"CACHE TABLE {view} AS SELECT *, {self._number} AS reader FROM {table.source}")
        return Held(view, complete, None, self._lasts())
