"""Runs the statements: OPTIMIZE in several forms, RESTORE, VACUUM, REFRESH, INSERT and DESCRIBE HISTORY."""

import time
from collections.abc import Sequence
from random import Random

from comparison import ERRORS, condition_of
from kills.statements import newest, size
from pyspark.sql import SparkSession

from load.events import RIGHT, Events
from load.failures import of_statement
from load.loops import Loop
from load.rows import PARTITIONS
from load.tables import BY_INSERT, LoadTable

WEIGHTS = {
    "OPTIMIZE": 6,
    "OPTIMIZE FULL": 4,
    "OPTIMIZE WHERE": 3,
    "OPTIMIZE, partial progress": 1,
    "RESTORE": 5,
    "VACUUM": 3,
    "REFRESH": 3,
    "INSERT": 5,
    "DESCRIBE HISTORY": 2,
}


class Maintenance(Loop):
    """Runs one statement after the other, each on one of several tables.

    Two Spark jobs that append to one folder at the same time delete each other's files, so only one loop `inserts`.
    """

    def __init__(
        self,
        spark: SparkSession,
        tables: Sequence[LoadTable],
        rng: Random,
        events: Events,
        *,
        inserts: bool = True,
        longest: float = 2.0,
    ) -> None:
        self._spark, self._tables, self._rng, self._events, self._longest = spark, tables, rng, events, longest
        self._kinds = [kind for kind in WEIGHTS if inserts or kind != "INSERT"]
        self._inserted = -1

    def pause(self) -> float:
        return self._rng.uniform(0, self._longest)

    def step(self) -> None:
        kind = self._rng.choices(self._kinds, weights=[WEIGHTS[kind] for kind in self._kinds])[0]
        self.run(kind, self._rng.choice(self._tables))

    def run(self, kind: str, table: LoadTable) -> None:
        """Draw a statement of a kind."""
        began = time.time()
        about = {"kind": kind, "table": table.name}
        if kind == "INSERT":
            self._inserted += 2
            sql = table.insert(self._inserted)
        else:
            sql = self._statement(kind, table)
        try:
            if kind == "INSERT":
                with table.ledger(BY_INSERT).appending(self._inserted):
                    self._spark.sql(sql)
            else:
                self._spark.sql(sql).collect()
        except ERRORS as error:
            condition = condition_of(error)
            known = condition in of_statement(kind)
            problem = {} if known else {"problem": f"{sql}: {str(error)[:6000]}"}
            self._events.add("statement", began, condition, **about, **problem)
        else:
            self._events.add("statement", began, RIGHT, **about)

    def _statement(self, kind: str, table: LoadTable) -> str:
        source = self._rng.choice((table.name, table.source))
        if kind == "RESTORE":
            # Mostly the version before the last operation.
            back = self._rng.choice((1, 1, 1, 2, 3))
            return f"RESTORE {source} TO VERSION AS OF {max(0, newest(table.root) - back)}"
        if kind == "VACUUM":
            return f"VACUUM {source} RETAIN 0 HOURS"
        if kind == "REFRESH":
            return f"REFRESH SKIPPING INDEX ON {source}"
        if kind == "DESCRIBE HISTORY":
            return f"DESCRIBE HISTORY {source}"
        # Without this option, small tables would have one file each.
        folders = PARTITIONS if table.partitioned else 1
        options = f"'target-file-size-bytes' = '{max(size(table.root) // (self._rng.randint(4, 12) * folders), 1)}'"
        full = "FULL " if kind in ("OPTIMIZE FULL", "OPTIMIZE, partial progress") else ""
        where = ""
        if kind == "OPTIMIZE WHERE" and table.partitioned:
            where = f"WHERE p = {self._rng.randrange(PARTITIONS)} "
        if kind == "OPTIMIZE, partial progress":
            options += ", 'max-file-group-size-bytes' = '65536', 'partial-progress.enabled' = 'true'"
        curve = self._rng.choice(("ZORDER BY (k, v)", "HILBERT BY (k, v)")) if full else "ZORDER BY (k, v)"
        return f"OPTIMIZE {source} {full}{where}{curve} OPTIONS ({options})"
