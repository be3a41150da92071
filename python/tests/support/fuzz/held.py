"""Queries on a listing that a session has cached, while another program overwrites a file in place."""

from collections.abc import Sequence
from random import Random

from comparison import ERRORS, condition_of, no_skipping
from pyspark.sql import DataFrame

from fuzz.answers import Answer
from fuzz.tables import FuzzTable


class Held:
    """The same questions with and without skipping on one listing. Some are planned before the overwrite."""

    def __init__(self, table: FuzzTable, conditions: Sequence[str], r: Random) -> None:
        self._table = table
        relation = table.relation()
        self.queries = [f"SELECT id FROM {relation} WHERE {c}" for c in conditions]
        self._with: list[DataFrame | None] = []
        self._without: list[DataFrame | None] = []
        for query in self.queries:
            with no_skipping(table.spark):
                self._without.append(_asked(table, query, planned=True))
            self._with.append(_asked(table, query, planned=r.random() < 0.5))

    def wrong(self) -> list[str]:
        """The queries whose answer is neither that of the cached listing nor that of the files now."""
        answers = [(_answer(a), _answer(b)) for a, b in zip(self._with, self._without, strict=True)]
        relation = self._table.relation()
        wrong: list[str] = []
        for query, (found, held) in zip(self.queries, answers, strict=True):
            if found == held or (isinstance(found, str) and isinstance(held, str)):
                continue
            with no_skipping(self._table.spark):
                fresh = _answer(_asked(self._table, query, planned=False))
            # A scan by the old length of a file may fail. A query that skips this file need not fail.
            if found != fresh:
                wrong.append(f"{_short(found)}, not {_short(held)} or, listed anew, {_short(fresh)}: {query[:300]}")
        assert relation == self._table.name
        return wrong


def _asked(table: FuzzTable, query: str, planned: bool) -> DataFrame | None:
    try:
        frame = table.spark.sql(query)
        if planned:
            frame._jdf.queryExecution().executedPlan()
    except ERRORS:
        return None
    return frame


def _answer(frame: DataFrame | None) -> Answer:
    if frame is None:
        return "not planned"
    try:
        return sorted(row.id for row in frame.collect())
    except ERRORS as error:
        return condition_of(error)


def _short(answer: Answer) -> str:
    return answer if isinstance(answer, str) else f"{len(answer)} rows"
