"""Statements that change files of a table or beside it."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

EXPECTED = (
    "ZORDER_CANNOT_RESTORE.FILES_GONE",
    "ZORDER_INDEX_EXISTS",
    "ZORDER_INDEX_NOT_FOUND",
    "ZORDER_VERSION_NOT_FOUND.NUMBER",
)
"""Errors that are correct on a table on which other such statements ran before."""

WEIGHTS = {"OPTIMIZE": 8, "RESTORE": 8, "VACUUM": 3, "REFRESH": 4, "CREATE": 3, "DROP": 1, "SELECT": 3}


def statement(root: Path, rng: Random) -> str:
    """Draw a statement, or a query, which recovers the table.

    Args:
        root: The table's folder.
        rng: The source of randomness.
    """
    source = f"parquet.`{root}`"
    kind = rng.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
    if kind == "OPTIMIZE":
        return f"OPTIMIZE {source} {_layout(root, rng)}"
    if kind == "RESTORE":
        return f"RESTORE {source} TO VERSION AS OF {max(0, newest(root) - rng.randint(1, 3))}"
    if kind == "VACUUM":
        return f"VACUUM {source} RETAIN 0 HOURS"
    if kind == "REFRESH":
        return f"REFRESH SKIPPING INDEX ON {source}"
    if kind == "SELECT":
        return f"SELECT count(*) FROM {source} WHERE a = {rng.randrange(101)}"
    return f"CREATE OR REPLACE SKIPPING INDEX ON {source}" if kind == "CREATE" else f"DROP SKIPPING INDEX ON {source}"


def _layout(root: Path, rng: Random) -> str:
    """Draw the rest of an OPTIMIZE. Half of them repeat a table's layout, so that new files are added to it."""
    own = Random(root.name)
    again = rng.random() < 0.5
    of = own if again else rng
    key = of.choice(("(a)", "(id)", "(a WEIGHT 2, id)"))
    cuts = of.choice(("aligned", "equal"))
    if not again:
        full, option = rng.choice(("FULL ", "FULL ", "")), f"'num-files' = '{rng.randint(2, 16)}'"
    else:
        # A number of files means that all files are rewritten.
        full = "FULL " if rng.random() < 0.2 else ""
        folders = max(len(list(root.glob("p=*"))), 1)
        option = f"'target-file-size-bytes' = '{max(size(root) // (rng.randint(16, 32) * folders), 1)}'"
    groups = rng.choice(("", "", ", 'max-file-group-size-bytes' = '4096'", ", 'partial-progress.enabled' = 'true'"))
    return f"{full}ZORDER BY {key} OPTIONS ({option}, 'cuts' = '{cuts}'{groups})"


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
    """The version of a table."""
    versions = [re.match(r"_v(\d+)(-\d+ms)?\.(json|vacuumed)", p.name) for p in root.glob("_zorder/_v*")]
    return max((int(found[1]) for found in versions if found), default=0)
