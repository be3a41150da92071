"""What a process holds more of at the end than at the beginning."""

from __future__ import annotations

from typing import Any

THREADS = 16
"""Threads by which Spark's pools may have grown."""
POOLS = ("shuffle-exchange-", "ResultQueryStageExecution-")
"""Pools of Spark's that grow with each query that ran beside others, up to a fixed size."""
FILES = 16
"""Files by which a process may have grown: jars that were opened late, connections of Python's threads."""
HEAP = 48 * 2**20
"""Bytes by which the live heap may have grown: code that Spark generated, classes, statistics of tables that grow."""


def leaks(role: str, first: dict[str, Any], last: dict[str, Any]) -> list[str]:
    """A sentence for each leak of a process.

    Args:
        role: The process.
        first: What it held when it had worked for a while and rested.
        last: The same at the end.
    """
    found = []
    if last["of tables"]:
        found.append(f"{role}: files of the tables are open: {last['of tables'][:10]}")
    if len(last["deleted"]) > len(first["deleted"]) + 4:
        found.append(f"{role}: {len(last['deleted'])} deleted files are open, before {len(first['deleted'])}")
    if last["files"] > first["files"] + FILES:
        more = _more(first["kinds"], last["kinds"])
        found.append(f"{role}: {last['files']} files are open, before {first['files']}: {more}")
    if "threads" in first:
        more = _more(first["threads"], last["threads"])
        # One thread beats for all locks of a process, from the first one on.
        if any("zorder" in name and n > 1 for name, n in more.items()) or total(last) > total(first) + THREADS:
            found.append(f"{role}: {total(last)} threads, before {total(first)}: {more}")
        if last["heap"] > first["heap"] + HEAP:
            found.append(f"{role}: {last['heap'] / 2**20:.0f} MiB are live, before {first['heap'] / 2**20:.0f}")
    return found


def total(resources: dict[str, Any]) -> int:
    """The number of threads, but for the pools that only grow."""
    return sum(n for name, n in resources.get("threads", {}).items() if not name.startswith(POOLS))


def _more(first: dict[str, int], last: dict[str, int]) -> dict[str, int]:
    return {name: n - first.get(name, 0) for name, n in last.items() if n > first.get(name, 0)}
