"""Statements that change something beside or among a table's files."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

EXPECTED = ("ZORDER_RESTORE_FILES_GONE", "ZORDER_INDEX_EXISTS", "ZORDER_INDEX_NOT_FOUND", "ZORDER_VERSION_NOT_FOUND")
"""What a statement may well answer on a table on which others of its kind have been run before."""

RIVALS = (
    "ZORDER_CONCURRENT_OPERATION",
    "ZORDER_COMMIT_CONFLICT",
    "ZORDER_RESTORE_CHANGED_FILES",
    "FAILED_READ_FILE.FILE_NOT_EXIST",
    "FAILED_TO_CREATE_PLAN_FOR_DIRECT_QUERY",
)
"""What a statement may answer besides where another table over the same files is at work."""

MOVED = ("NoSuchFileException", "FileNotFoundException")
"""What an error has in it of a file that another table moved between a listing and the look into the file."""


def is_expected(condition: str, message: str, allowed: tuple[str, ...]) -> bool:
    """Whether a statement may well answer so.

    Args:
        condition: The error's condition.
        message: All that it says, with its causes.
        allowed: Conditions. With those of `RIVALS` among them, a file may have been moved as well.
    """
    beside_others = set(RIVALS) <= set(allowed)
    return condition in allowed or (beside_others and any(word in message for word in MOVED))


WEIGHTS = {"OPTIMIZE": 8, "RESTORE": 8, "VACUUM": 3, "REFRESH": 4, "CREATE": 3, "DROP": 1, "SELECT": 3}


def inner_of(root: Path) -> str:
    """The name of a table over the first partition of a folder."""
    return f"inner_{root.name}"


def create_inner(root: Path) -> str:
    """Makes it, if it is not there."""
    columns = "(id BIGINT, a INT)"
    return f"CREATE TABLE IF NOT EXISTS {inner_of(root)} {columns} USING parquet LOCATION '{root / 'p=1'}'"


def statement(root: Path, rng: Random, name: str = "") -> str:
    """One of them, or a query, which recovers.

    Args:
        root: The table's folder.
        rng: What decides.
        name: Its name, if it has one.
    """
    source = name or f"parquet.`{root}`"
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
    """Half of them ask a table for the same as before, so that its files stay laid out and new ones come to them."""
    own = Random(root.name)
    again = rng.random() < 0.5
    of = own if again else rng
    key = of.choice(("(a)", "(id)", "(a WEIGHT 2, id)"))
    cuts = of.choice(("aligned", "equal"))
    if not again:
        full, option = rng.choice(("FULL ", "FULL ", "")), f"'num-files' = '{rng.randint(2, 16)}'"
    else:
        # With a number of files all of them are written anew.
        full = "FULL " if rng.random() < 0.2 else ""
        folders = max(len(list(root.glob("p=*"))), 1)
        option = f"'target-file-size-bytes' = '{max(size(root) // (rng.randint(16, 32) * folders), 1)}'"
    groups = rng.choice(("", "", ", 'max-file-group-size-bytes' = '4096'", ", 'partial-progress.enabled' = 'true'"))
    return f"{full}ZORDER BY {key} OPTIONS ({option}, 'cuts' = '{cuts}'{groups})"


def size(root: Path) -> int:
    """The bytes of a table's files, as far as they are there."""
    files = (p for ending in ("*.parquet", "*.orc") for p in root.rglob(ending))
    return sum(_length(p) for p in files if "_zorder" not in p.parts)


def _length(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        # It went since the folder was listed.
        return 0


def newest(root: Path) -> int:
    """The version of a table."""
    versions = [re.match(r"_v(\d+)-\d+ms\.", p.name) for p in root.glob("_zorder/_v*")]
    return max((int(found[1]) for found in versions if found), default=0)
