"""What a process on S3 does until it is killed. It runs in the process, see `s3_campaign`."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WEIGHTS = {"OPTIMIZE": 8, "RESTORE": 5, "VACUUM": 2, "REFRESH": 2, "SELECT": 2}


def statement(source: str, newest: int, rng: Random) -> str:
    """Draw a statement, or a query, which recovers the table.

    Args:
        source: The table's name.
        newest: A version that the table had a moment ago.
        rng: The source of randomness.
    """
    kind = rng.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
    if kind == "OPTIMIZE":
        full = rng.choice(("FULL ", "FULL ", ""))
        options = [f"'num-files' = '{rng.randint(2, 5)}'"] if full else ["'target-file-size-bytes' = '1500'"]
        options += rng.choice(([], [], ["'retain-hours' = '0'"], ["'partial-progress.enabled' = 'true'"]))
        return f"OPTIMIZE {source} {full}ZORDER BY ({rng.choice(('a', 'b', 'a, b'))}) OPTIONS ({', '.join(options)})"
    if kind == "RESTORE":
        return f"RESTORE {source} TO VERSION AS OF {rng.randint(max(0, newest - 3), newest + 3)}"
    if kind == "VACUUM":
        return f"VACUUM {source} RETAIN 0 HOURS"
    if kind == "REFRESH":
        return f"REFRESH SKIPPING INDEX ON {source}"
    return f"SELECT count(*) FROM {source} WHERE a = {rng.randrange(101)}"


def begin(spark: SparkSession, tables: list[tuple[str, int]], seed: str, out: str) -> None:
    """Run statements on each table in a thread of its own, and return at once.

    Args:
        spark: The process's session.
        tables: The names and the newest versions.
        seed: What the statements are drawn by.
        out: A file that gets a line for each statement that ended.
    """
    from comparison import condition_of
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    one_at_a_time = threading.Lock()

    def say(message: dict[str, Any]) -> None:
        with one_at_a_time, Path(out).open("a") as file:
            file.write(json.dumps(message) + "\n")

    def loop(session: SparkSession, source: str, newest: int, rng: Random) -> None:
        while True:
            sql = statement(source, newest, rng)
            try:
                rows = session.sql(sql).collect()
                say({"strategy": rows[0]["metrics"]["strategy"]["name"]} if sql.startswith("OPTIMIZE") else {})
            except (PySparkException, Py4JJavaError) as error:
                say({"sql": sql, "error": condition_of(error), "message": str(error)[:3000]})

    for i, (source, newest) in enumerate(tables):
        arguments = (spark.newSession(), source, newest, Random(f"{seed}/{i}"))
        threading.Thread(target=loop, args=arguments, daemon=True).start()
