"""Statements that change files of a table or beside it, and what a process does until it is killed."""

import json
import re
import threading
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from comparison import ERRORS, condition_of
from pyspark.sql import SparkSession

EXPECTED = (
    "ZORDER_CANNOT_RESTORE.FILES_GONE",
    "ZORDER_INDEX_EXISTS",
    "ZORDER_INDEX_NOT_FOUND",
    "ZORDER_VERSION_NOT_FOUND.NUMBER",
)
"""Errors that are correct on a table on which other such statements ran before."""

WEIGHTS = {"OPTIMIZE": 8, "RESTORE": 8, "VACUUM": 3, "REFRESH": 4, "CREATE": 3, "DROP": 1, "SELECT": 3}

EACH_KIND = (
    "OPTIMIZE {} ZORDER BY (a) OPTIONS ('num-files' = '2')",
    "CREATE OR REPLACE SKIPPING INDEX ON {}",
    "RESTORE {} TO VERSION AS OF 0",
    "VACUUM {} RETAIN 0 HOURS",
)
"""They load thousands of classes. The first one loads most of them."""


@dataclass(frozen=True)
class Known:
    """What is known of a table where statements are drawn.

    Its size in bytes and its newest version are those of a moment ago, unless a folder on this disk tells them.
    """

    source: str
    folders: int
    most: int
    size: int = 0
    newest: int = 0
    root: str | None = None


def statement(table: Known, rng: Random) -> str:
    """Draw a statement, or a query, which recovers the table."""
    kind = rng.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
    if kind == "OPTIMIZE":
        return f"OPTIMIZE {table.source} {_layout(table, rng)}"
    if kind == "RESTORE":
        # A version of a moment ago may be far from that of now.
        known, last = (table.newest, 3) if table.root is None else (newest(Path(table.root)), -1)
        return f"RESTORE {table.source} TO VERSION AS OF {max(0, known + rng.randint(-3, last))}"
    if kind == "SELECT":
        return f"SELECT count(*) FROM {table.source} WHERE a = {rng.randrange(101)}"
    if kind == "VACUUM":
        return f"VACUUM {table.source} RETAIN 0 HOURS"
    begins = {"REFRESH": "REFRESH", "CREATE": "CREATE OR REPLACE", "DROP": "DROP"}[kind]
    return f"{begins} SKIPPING INDEX ON {table.source}"


def _layout(table: Known, rng: Random) -> str:
    """Draw the rest of an OPTIMIZE. Half of them repeat a table's layout, so that new files are added to it."""
    again = rng.random() < 0.5
    of = Random(table.source.rpartition("/")[2]) if again else rng
    key = of.choice(("(a)", "(id)", "(a WEIGHT 2, id)"))
    cuts = of.choice(("aligned", "equal"))
    if not again:
        full, option = rng.choice(("FULL ", "FULL ", "")), f"'num-files' = '{rng.randint(2, table.most)}'"
    else:
        # A number of files means that all files are rewritten.
        full = "FULL " if rng.random() < 0.2 else ""
        bytes_ = table.size if table.root is None else size(Path(table.root))
        option = f"'target-file-size-bytes' = '{max(bytes_ // (rng.randint(16, 32) * table.folders), 1)}'"
    more = ("max-file-group-size-bytes' = '4096", "partial-progress.enabled' = 'true", "retain-hours' = '0")
    others = rng.choice(("", "", *(f", '{words}'" for words in more)))
    return f"{full}ZORDER BY {key} OPTIONS ({option}, 'cuts' = '{cuts}'{others})"


def size(root: Path) -> int:
    """The bytes of those of a table's files that are there."""
    files = (p for ending in ("*.parquet", "*.orc") for p in root.rglob(ending))
    return sum(_length(p) for p in files if "_zorder" not in p.parts)


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        # It was deleted after the folder was listed.
        return 0


def newest(root: Path) -> int:
    versions = [re.match(r"_v(\d+)(-\d+ms)?\.(json|vacuumed)", p.name) for p in root.glob("_zorder/_v*")]
    return max((int(found[1]) for found in versions if found), default=0)


def ask(spark: SparkSession, sql: str) -> tuple[str, Any]:
    """The first column of a statement's rows, or the condition and the message of its error."""
    try:
        return "", [row[0] for row in spark.sql(sql).collect()]
    except ERRORS as error:
        return condition_of(error), str(error)[:3000]


def begin(spark: SparkSession, tables: list[dict[str, Any]], seed: str, out: str) -> None:
    """Run statements on each table in a thread of its own, without a pause, and return at once.

    The file `out` gets a line for each OPTIMIZE that ended, and for each unexpected error.
    """
    one_at_a_time = threading.Lock()

    def say(message: dict[str, Any]) -> None:
        with one_at_a_time, Path(out).open("a") as file:
            file.write(json.dumps(message) + "\n")

    def loop(session: SparkSession, table: Known, rng: Random) -> None:
        while True:
            sql = statement(table, rng)
            try:
                rows = session.sql(sql).collect()
                if sql.startswith("OPTIMIZE"):
                    say({"strategy": rows[0]["metrics"]["strategy"]["name"]})
            except ERRORS as error:
                if condition_of(error) not in EXPECTED:
                    say({"sql": sql, "message": str(error)[:3000]})

    for i, table in enumerate(tables):
        arguments = (spark.newSession(), Known(**table), Random(f"{seed}/{i}"))
        threading.Thread(target=loop, args=arguments, daemon=True).start()
