"""Compares joins whose keys leave out files with the same joins that read all files."""

import re
from collections.abc import Sequence
from random import Random

from comparison import ERRORS, condition_of, no_skipping, settings

from fuzz.columns import Column
from fuzz.dialects import Text
from fuzz.predicates import TABLE, Conditions
from fuzz.tables import FuzzTable

_LEFT_OUT = re.compile(r"Joins: (\d+) of (\d+) files")

_SHUFFLED = {"spark.sql.autoBroadcastJoinThreshold": -1}
"""Settings with which Spark broadcasts no side of a join."""

DROPPING = ("JOIN", "LEFT SEMI JOIN", "IN", "EXISTS", "RIGHT", "TWO", "SAFE", "FUNCTION")
"""Joins that drop rows without a partner."""

_FUNCTIONS = ("CAST({} AS STRING)", "COALESCE({}, NULL)", "CAST({} AS TIMESTAMP)", "CAST({} AS BIGINT)", "{} + 1")

KEEPING = ("LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "LEFT ANTI JOIN", "NOT EXISTS")


class Joined:
    """Draws joins of a table with few rows: literals, or rows of the table itself."""

    def __init__(self, table: FuzzTable, columns: Sequence[Column], conditions: Conditions, r: Random) -> None:
        self._table, self._columns, self._conditions, self._random = table, columns, conditions, r
        self.files = 0
        """Files before and after the keys of joins were known."""
        self.kept = 0
        self._shuffles = r.random() < 0.4

    def query(self, condition: Text) -> str:
        """A join of the rows that pass a condition, or of all rows."""
        r, relation = self._random, self._table.relation()
        where = "true" if r.random() < 0.6 else condition.spark.replace(TABLE, relation)
        table = f"(SELECT * FROM {relation} WHERE {where})" if where != "true" else relation
        form = r.choice(DROPPING if r.random() < 0.8 else KEEPING)
        name = "id" if self._shuffles and r.random() < 0.5 else None
        column = r.choice(self._columns)
        few, key = self._few(column, name), f"t.{name or column.spark}"
        match form:
            case "IN":
                return f"SELECT id FROM {table} t WHERE {key} IN (SELECT v FROM {few})"
            case "EXISTS" | "NOT EXISTS":
                return f"SELECT id FROM {table} t WHERE {form} (SELECT 1 FROM {few} WHERE v = {key})"
            case "RIGHT":
                return f"SELECT t.id, w FROM {few} JOIN {table} t ON {key} = v"
            case "SAFE":
                return f"SELECT t.id, w FROM {table} t JOIN {few} ON {key} <=> v"
            case "FUNCTION":
                f = r.choice(_FUNCTIONS)
                return f"SELECT t.id, w FROM {table} t JOIN {few} ON {f.format(key)} = {f.format('v')}"
            case "TWO":
                other = r.choice(self._columns)
                second = self._few(other).replace(" AS d", " AS e")
                return f"SELECT t.id, d.w, e.w FROM {table} t JOIN {few} ON {key} = d.v " + (
                    f"JOIN {second} ON t.{other.spark} = e.v"
                )
            case "LEFT SEMI JOIN" | "LEFT ANTI JOIN":
                return f"SELECT t.id FROM {table} t {form} {few} ON {key} = v"
            case _:
                return f"SELECT t.id, w FROM {table} t {form} {few} ON {key} = v"

    def _few(self, column: Column, name: str | None = None) -> str:
        """Keys of the type of a column, or the values of a name, in rows that pass a filter of this column."""
        r = self._random
        if name is None and r.random() < 0.5:
            rows = ", ".join(
                f"({self._conditions.literal(column).spark}, {n})" for n in range(r.choice((1, 1, 2, 5, 30)))
            )
            return f"(SELECT * FROM VALUES {rows}, (NULL, -1) AS x(v, w)) AS d"
        step = r.choice((11, 37, 151))
        relation = self._table.relation()
        where = f"id % {step} = {r.randrange(step)}"
        if self._shuffles:
            # Spark gives a filter of the key itself to both sides.
            other = column if name else r.choice(self._columns)
            where += (
                f" AND {other.spark} {r.choice(('=', '<', '<=', '>', '>='))} {self._conditions.literal(other).spark}"
            )
        return f"(SELECT {name or column.spark} AS v, id % 5 AS w FROM {relation} WHERE {where}) AS d"

    def wrong(self, query: str) -> str | None:
        """What skipping changes; None if nothing, or if Spark raises an error without it."""
        with settings(self._table.spark, **(_SHUFFLED if self._shuffles else {})):
            with no_skipping(self._table.spark):
                expected = self._rows(query)
            found = self._rows(query)
        if isinstance(expected, str) or found == expected:
            return None
        return f"{str(found)[:300]}, not {str(expected)[:300]}: {query[:900]}"

    def _rows(self, query: str) -> list[str] | str:
        try:
            frame = self._table.spark.sql(query)
            rows = sorted(str(row) for row in frame.collect())
        except ERRORS as error:
            return condition_of(error)
        plan = frame._jdf.queryExecution().executedPlan().toString().split("== Initial Plan ==")[0]
        for kept, files in _LEFT_OUT.findall(plan):
            self.kept += int(kept)
            self.files += int(files)
        return rows
