"""Compares counts, extremes and first rows that the index may answer with those that Spark reads."""

import re
from collections.abc import Sequence
from random import Random

from comparison import ERRORS, condition_of, no_skipping

from fuzz.columns import Column
from fuzz.predicates import TABLE
from fuzz.tables import FuzzTable

_ANSWERED = re.compile(r"answered from the index: (\d+) files")
_BOUND = re.compile(r"Skipping: (\d+) of (\d+) files")


class Answered:
    """Draws queries of a table. Some ask for the first rows, others for counts and extremes."""

    def __init__(self, table: FuzzTable, columns: Sequence[Column], r: Random) -> None:
        self._table, self._columns, self._random = table, columns, r

    @property
    def _rows_so_far(self) -> int:
        return max(self._table.rows.next_id, 2)

    def query(self, condition: str) -> str:
        """A query of the rows that pass a condition, or one that many files pass with all of their rows."""
        r, relation, rows = self._random, self._table.relation(), self._rows_so_far
        low = r.randrange(rows)
        where = r.choice(
            [
                "true",
                f"id >= {low}",
                f"id BETWEEN {low} AND {low + r.randrange(rows)}",
                condition.replace(TABLE, relation),
                f"id < {low} OR ({condition.replace(TABLE, relation)})",
            ]
        )
        column = r.choice(self._columns).spark
        if r.random() < 0.4:
            order = r.choice(["", "DESC", "ASC NULLS LAST", "DESC NULLS FIRST"])
            limit = f"LIMIT {r.choice((1, 3, 20, rows // 3 + 1))} OFFSET {r.choice((0, 0, 2))}"
            return f"SELECT id FROM {relation} WHERE {where} ORDER BY {column} {order}, id {limit}"
        if r.random() < 0.15:
            return f"SELECT count(*) FROM (SELECT id FROM {relation} WHERE {where} LIMIT {r.randrange(1, rows)})"
        asked = [self._function(where) for _ in range(r.randint(1, 4))]
        partition = [c.spark for c in self._columns if c.partition]
        group = [r.choice(partition)] if partition and r.random() < 0.4 else []
        by = f" GROUP BY {group[0]}" if group else ""
        shown = [f"CAST({name} AS STRING)" for name in group]
        return f"SELECT {', '.join([*shown, *asked])} FROM {relation} WHERE {where}{by}"

    def _function(self, where: str) -> str:
        r = self._random
        column = r.choice(self._columns)
        kinds = ["count(*)", "min(id)", "max(id)", f"count({column.spark})"]
        # Without code generation, Spark 4.3.0 keeps the extreme of a collated column in memory that is used again.
        if "COLLATE" not in column.kind.sql:
            # As texts: Python has no dates before the year 1.
            kinds += [f"CAST({f}({column.spark}) AS STRING)" for f in ("min", "max")]
        kinds.append(f"count_if(id > {r.randrange(self._rows_so_far)})")
        kinds.append(f"count(*) FILTER (WHERE {where})")
        return r.choice(kinds)

    def wrong(self, query: str) -> str | None:
        """What the index changes; None if nothing, or if Spark raises an error without it."""
        with no_skipping(self._table.spark):
            expected = self._rows(query)
        found = self._rows(query)
        if isinstance(expected, str) or found == expected or found == self._rows_by_spark_alone(query):
            return None
        return f"{str(found)[:300]}, not {str(expected)[:300]}: {query[:600]}"

    def answers(self, query: str) -> bool:
        """Whether the plan has files that are answered for, or reads fewer for the first rows."""
        try:
            plan = self._table.spark.sql(f"EXPLAIN {query}").first()
        except ERRORS:
            return False
        assert plan is not None
        found = _BOUND.search(plan[0])
        return bool(_ANSWERED.search(plan[0])) or ("ORDER BY" in query and found is not None and found[1] != found[2])

    def _rows_by_spark_alone(self, query: str) -> list[str] | str:
        """Without the filters of Spark's readers, which may miss rows that the filter passes."""
        spark = self._table.spark
        keys = [f"spark.sql.{form}.filterPushdown" for form in ("parquet", "orc")]
        before = {key: spark.conf.get(key) for key in keys}
        try:
            for key in keys:
                spark.conf.set(key, "false")
            with no_skipping(spark):
                return self._rows(query)
        finally:
            for key, value in before.items():
                spark.conf.set(key, str(value))

    def _rows(self, query: str) -> list[str] | str:
        try:
            rows = [str(row) for row in self._table.spark.sql(query).collect()]
        except ERRORS as error:
            return condition_of(error)
        return rows if "ORDER BY" in query else sorted(rows)
