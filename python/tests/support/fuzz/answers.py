"""Runs conditions in Spark with skipping on and off."""

from collections.abc import Sequence
from contextlib import nullcontext

from comparison import ERRORS, condition_of, no_skipping, settings
from pyspark.sql import SparkSession

from fuzz.predicates import TABLE
from spark_zorder import explain_skipping

PUSHDOWN = ("spark_sql_parquet_filterPushdown", "spark_sql_orc_filterPushdown")
"""The settings for filters in Spark's readers."""

Answer = list[int] | str
"""Sorted ids, or the condition of an error."""


class Questions:
    """Conditions on one relation, under the current settings."""

    def __init__(self, spark: SparkSession, relation: str, conditions: Sequence[str]) -> None:
        self._spark = spark
        self._relation = relation
        self._conditions = [c.replace(TABLE, relation) for c in conditions]

    def evaluated(self) -> list[list[int]] | None:
        """Ids by evaluating each condition on every row, without filter or skipping. None if one raises an error."""
        columns = ", ".join(f"({c}) AS q{n}" for n, c in enumerate(self._conditions))
        with no_skipping(self._spark):
            try:
                rows = self._spark.sql(f"SELECT id, {columns} FROM {self._relation}").collect()
            except ERRORS:
                return None
        return [sorted(row[0] for row in rows if row[n + 1]) for n in range(len(self._conditions))]

    def skipping(self, more: str | None = None) -> list[list[int]] | None:
        """Ids by filters that all have the condition `more`, in one query. None if one raises an error."""
        found: list[list[int]] = [[] for _ in self._conditions]
        try:
            for row in self._spark.sql(self._union(more)).collect():
                found[row.q].append(row.id)
        except ERRORS:
            return None
        return [sorted(ids) for ids in found]

    def filtered(self, n: int, skipping: bool, pushdown: bool | None = None) -> Answer:
        """Ids by one filter. `pushdown` says whether Spark's readers get it too, whatever the settings are."""
        pushed = {} if pushdown is None else dict.fromkeys(PUSHDOWN, str(pushdown).lower())
        with nullcontext() if skipping else no_skipping(self._spark), settings(self._spark, **pushed):
            try:
                rows = self._spark.sql(f"SELECT id FROM {self._relation} WHERE {self._conditions[n]}").collect()
            except ERRORS as error:
                return condition_of(error)
        return sorted(row.id for row in rows)

    def files(self) -> tuple[int, int, int, int]:
        """Files read, all files, and queries that skip some by the curve and by values. None if there is no plan."""
        try:
            scans = explain_skipping(self._spark, self._union()).df.collect()
        except ERRORS:
            return 0, 0, 0, 0
        reasons = [[c["reason"] or "" for c in scan["conjuncts"] or []] for scan in scans]
        by_curve, by_values = (
            sum(any(r.startswith(code) for r in of_scan) for of_scan in reasons)
            for code in ("CURVE_INTERVAL", "MEMBERSHIP")
        )
        return sum(s.files_kept for s in scans), sum(s.files_total for s in scans), by_curve, by_values

    def _union(self, more: str | None = None) -> str:
        besides = "" if more is None else f" AND {more}"
        return " UNION ALL ".join(
            f"SELECT {n} AS q, id FROM {self._relation} WHERE ({c}){besides}" for n, c in enumerate(self._conditions)
        )
