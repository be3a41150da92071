"""A program: the nightly tool over 200 small tables of all kinds, with a writer beside the first run, then run again.

    night_of_two_hundred.py <work>

The last line is a JSON object with what the runs did and what is in the tables.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from local_session import local_session

from spark_zorder._cli import nightly
from spark_zorder._cli.nightly_outcome import Outcome, Selected, exit_code

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TABLES = 200
ROWS = 300
LATER = 1_000_000
BY = "TBLPROPERTIES ('zorder.optimize.by' = 'a, id')"
NUMBERS = "SELECT /*+ REPARTITION(4, id) */ id, pmod(hash(id), 97) AS a, concat('k', id % 7) AS s"

KINDS = [
    "USING parquet",
    "USING orc",
    f"USING parquet {BY}",
    f"USING orc {BY}",
    "USING parquet CLUSTER BY (a, id)",
    "USING parquet PARTITIONED BY (s)",
    f"USING orc PARTITIONED BY (s) {BY}",
    "USING parquet PARTITIONED BY (s) LOCATION '{location}'",
    "USING parquet LOCATION '{location}'",
    "STORED AS PARQUET",
    "STORED AS ORC",
    "USING parquet OPTIONS ('compression' = 'gzip')",
    "USING parquet TBLPROPERTIES ('zorder.maintenance.enabled' = 'false')",
    "HIVE PARTITIONS",
    "USING parquet CLUSTERED BY (id) INTO 4 BUCKETS",
    "USING json",
    "USING csv",
    "VIEW",
    "EMPTY",
    "STORED AS TEXTFILE",
]
"""How the tables are made. The first fourteen are ours."""

OURS = 14
OFF = 12


def make(spark: SparkSession, number: int, work: Path) -> None:
    """Make a table."""
    kind, name = KINDS[number % len(KINDS)], f"t{number:03}"
    rows = f"{NUMBERS} FROM range({ROWS * number}, {ROWS * (number + 1)})"
    # Odd characters, as folders have them.
    location = work / "outside" / f"{name} a %20 é"
    if kind == "VIEW":
        spark.sql(f"CREATE VIEW {name} AS {rows}")
    elif kind == "EMPTY":
        spark.sql(f"CREATE TABLE {name} (id BIGINT, a INT, s STRING) USING parquet")
    elif kind == "HIVE PARTITIONS":
        spark.sql(f"CREATE TABLE {name} (id BIGINT, a INT) PARTITIONED BY (s STRING) STORED AS PARQUET")
        spark.sql(f"INSERT INTO {name} {rows}")
    elif kind.startswith("STORED") or kind.startswith("USING parquet CLUSTER BY"):
        spark.sql(f"CREATE TABLE {name} (id BIGINT, a INT, s STRING) {kind}")
        spark.sql(f"INSERT INTO {name} {rows}")
    else:
        spark.sql(f"CREATE TABLE {name} {kind.format(location=location)} AS {rows}")


def written(number: int, appended: int) -> list[int]:
    """The ids of what was written, however the table looks now."""
    is_empty = KINDS[number % len(KINDS)] == "EMPTY"
    ids = set() if is_empty else set(range(ROWS * number, ROWS * (number + 1)))
    return sorted(ids | {LATER * (n + 1) + number for n in range(appended)})


class Writer:
    """Appends a row to one table of ours after another, until it is stopped."""

    def __init__(self, spark: SparkSession) -> None:
        self.appended: dict[int, int] = {}
        self._session = spark.newSession()
        self._session.sql("USE night")
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._write)
        self.errors: list[str] = []

    def _write(self) -> None:
        for number in self._numbers():
            if self._ending.is_set():
                return
            n = self.appended.get(number, 0)
            start = LATER * (n + 1) + number
            try:
                self._session.sql(
                    f"INSERT INTO t{number:03} (id, a, s) "
                    f"SELECT id, pmod(hash(id), 97), concat('k', id % 7) FROM range({start}, {start + 1}, 1, 1)"
                )
                self.appended[number] = n + 1
            except Exception as error:
                self.errors.append(f"t{number:03}: {error}"[:500])
            time.sleep(0.2)

    @staticmethod
    def _numbers() -> Iterator[int]:
        while True:
            yield from (number for number in range(TABLES) if number % 3 == 0 and number % len(KINDS) < OURS)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ending.set()
        self._thread.join()


def main(work: Path) -> None:
    """Run all, and print what was found."""
    spark = local_session(work, hive=True, settings={"spark.sql.shuffle.partitions": "2"})
    spark.sql("CREATE DATABASE night")
    spark.sql("USE night")
    for number in range(TABLES):
        make(spark, number, work)
    selected = Selected(("night",))

    def run() -> dict[str, Any]:
        begun = time.monotonic()
        outcomes: list[Outcome] = nightly.optimize(spark, selected)
        return {
            "seconds": round(time.monotonic() - begun, 1),
            "code": exit_code(outcomes),
            "outcomes": {o.table.removeprefix("night."): [o.outcome, o.message] for o in outcomes},
        }

    with Writer(spark) as writer:
        first = run()
    second, third = run(), run()
    begun = time.monotonic()
    states = nightly.states(spark, selected)
    seconds = round(time.monotonic() - begun, 1)
    wrong: list[str] = []
    for number in range(TABLES):
        table = spark.table(f"t{number:03}").selectExpr("CAST(id AS BIGINT) AS id", "CAST(a AS INT) AS a", "s")
        rows = table.selectExpr("id", "a = pmod(hash(id), 97) AND s = concat('k', id % 7) AS right").collect()
        ids = sorted(row.id for row in rows)
        if ids != written(number, writer.appended.get(number, 0)) or not all(row.right for row in rows):
            wrong.append(f"t{number:03}")
    answer = {
        "runs": [first, second, third],
        "appended": {f"t{number:03}": n for number, n in writer.appended.items()},
        "errors": writer.errors,
        "states": {row.table.removeprefix("night."): row.state for row in states},
        "status_seconds": seconds,
        "wrong": wrong,
    }
    print(json.dumps(answer))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
