"""What the thirteen queries read together, from the figures that were measured."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from peers.results import Figure

from ssb.queries import QUERIES

if TYPE_CHECKING:
    from peers.results import Part

FILES, BYTES, JOINS, TIME = "files read", "bytes read", "files left out by joins", "time"
UNITS = {FILES: "files", BYTES: "bytes", JOINS: "files", TIME: "ms"}
"""All that is measured of each query."""

WHOLE = "all"


def figure(part: Part, name: str, what: str) -> Figure:
    """What was measured of a query, or of the whole table."""
    [found] = [f for f in part.figures if f.name == f"{name}, {what}"]
    return found


def shares(part: Part) -> dict[str, dict[str, float]]:
    """The share of the large table's files that each query reads, by contestant."""
    whole = figure(part, WHOLE, FILES)
    read = {query.name: figure(part, query.name, FILES) for query in QUERIES}
    return {q: {name: f.median(name) / whole.median(name) for name in f.values} for q, f in read.items()}


@dataclass(frozen=True)
class Total:
    """All queries of one contestant.

    Args:
        files: of the large table
        read: files read by all queries together
        share: of the files that reading each time the whole table would take
        size: bytes of the large table
        bytes_read: of the files read by all queries together
        ms: the medians of all queries together
    """

    files: float
    read: float
    share: float
    size: float
    bytes_read: float
    ms: float


def totals(part: Part) -> dict[str, Total]:
    """The totals of each contestant."""
    files, size = (figure(part, WHOLE, what) for what in (FILES, BYTES))

    def summed(what: str, name: str) -> float:
        return sum(figure(part, query.name, what).median(name) for query in QUERIES)

    return {
        name: Total(
            files.median(name),
            summed(FILES, name),
            summed(FILES, name) / (len(QUERIES) * files.median(name)),
            size.median(name),
            summed(BYTES, name),
            summed(TIME, name),
        )
        for name in files.values
    }
