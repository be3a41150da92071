"""Statements that change something beside or among a table's files."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

EXPECTED = ("ZORDER_RESTORE_FILES_GONE", "ZORDER_INDEX_EXISTS", "ZORDER_INDEX_NOT_FOUND", "ZORDER_VERSION_NOT_FOUND")
"""What a statement may well answer on a table on which others of its kind have been run before."""

WEIGHTS = {"OPTIMIZE": 8, "RESTORE": 8, "VACUUM": 3, "REFRESH": 4, "CREATE": 3, "DROP": 1, "SELECT": 3}


def statement(root: Path, rng: Random) -> str:
    """One of them, or a query, which recovers."""
    source = f"parquet.`{root}`"
    kind = rng.choices(list(WEIGHTS), weights=list(WEIGHTS.values()))[0]
    if kind == "OPTIMIZE":
        full = rng.choice(("FULL ", "FULL ", ""))
        key = rng.choice(("(a)", "(id)", "(a WEIGHT 2, id)"))
        return f"OPTIMIZE {source} {full}ZORDER BY {key} OPTIONS ('num-files' = '{rng.randint(2, 16)}')"
    if kind == "RESTORE":
        return f"RESTORE {source} TO VERSION AS OF {max(0, newest(root) - rng.randint(1, 3))}"
    if kind == "VACUUM":
        return f"VACUUM {source} RETAIN 0 HOURS"
    if kind == "REFRESH":
        return f"REFRESH SKIPPING INDEX ON {source}"
    if kind == "SELECT":
        return f"SELECT count(*) FROM {source} WHERE a = {rng.randrange(101)}"
    return f"CREATE OR REPLACE SKIPPING INDEX ON {source}" if kind == "CREATE" else f"DROP SKIPPING INDEX ON {source}"


def newest(root: Path) -> int:
    """The version of a table."""
    versions = [re.match(r"v(\d+)-\d+ms\.", p.name) for p in root.glob("_zorder/v*")]
    return max((int(found[1]) for found in versions if found), default=0)
