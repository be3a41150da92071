"""Writes the results as a page of Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peers.page import number
from peers.results import summary

from ssb.contestants import OURS
from ssb.picture import NAMES
from ssb.queries import QUERIES
from ssb.totals import BYTES, FILES, JOINS, TIME, figure, shares, totals

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from peers.results import Figure, Part

HOW = """
The Star Schema Benchmark (O'Neil, O'Neil and Chen, revision 3) has one large table, `lineorder`,
and four dimensions. Its 13 queries filter by columns of dimensions, and join. Our own rules made
the rows, with the columns, domains and numbers of rows of the specification. The flattened table
is `lineorder` joined with all dimensions, and its queries are the same without the joins.

The flattened tables of both engines are clustered by the same columns. Delta cannot cluster a star
by columns of its dimensions, so it got columns of `lineorder`. Each engine clustered its tables
once a round. We asked ours for a number of files. It cuts at the borders of cells, so it may write
more. Delta was asked for as many as ours wrote. Spark alone reads the files as they were made, in
a session without extensions.

All contestants ran in one process. We asked them each query in turns, in another order each round,
after one round to warm up. All gave the same answers. Files and bytes are those of the large table,
by Spark's own metrics of the scan that ran. Bytes are the sizes of the files read. Times are
medians, with the extremes in brackets.
"""

MADE_BY = {"ours": "spark-zorder", "own": "spark-zorder, without joins", "delta": "Delta Lake"}
COST = "The layout of our star took {:.2f} times as long as that without joins."
RATIO = "Our star reads {:.2f} times the share of files that our flattened table reads."


def page(date: str, machine: dict[str, str], part: Part, picture: str) -> str:
    """Say how it was made, then the totals, then each query."""
    lines = [f"# {part.title}, {date}", "", "| | |", "|---|---|"]
    lines += [f"| {k} | {v} |" for k, v in {**machine, **part.settings}.items()]
    lines += [HOW, "## All 13 queries together", "", *_totals(part), "", f"![{NAME}]({picture})"]
    found = shares(part)
    files = [figure(part, query.name, FILES) for query in QUERIES]

    def read(f: Figure, name: str) -> str:
        return f"{number(f.median(name))} ({100 * found[f.name.split(',')[0]][name]:.0f} %)"

    lines += ["", "## Files read", "", *_table(files, read)]
    sizes = [figure(part, query.name, BYTES) for query in QUERIES]
    lines += ["", "## MB of the files read", "", *_table(sizes, lambda f, name: number(f.median(name) / 1e6))]
    lines += ["", "## Milliseconds", "", *_table([figure(part, query.name, TIME) for query in QUERIES], _spread)]
    joins = [figure(part, query.name, JOINS) for query in QUERIES]
    rows = [f"| {f.name.split(',')[0]} | {number(f.median(OURS))} |" for f in joins]
    lines += ["", "## Files that our star left out by the keys of joins", "", "| query | files |", "|---|---|", *rows]
    for made in (f for f in part.figures if f.name.startswith("OPTIMIZE")):
        rows = [f"| {MADE_BY[name]} | {_spread(made, name)} |" for name in made.values]
        lines += ["", f"## {made.name}", "", "| by | seconds |", "|---|---|", *rows]
        if "own" in made.values:
            lines += ["", COST.format(made.ratio("ours", "own"))]
    return "\n".join([*lines, ""])


NAME = "The share of files that each query reads"


def _totals(part: Part) -> list[str]:
    found = totals(part)
    lines = [
        "| contestant | files | files read | share | over our flattened table's | MB | MB read | sum of medians, ms |",
        "|---|---|---|---|---|---|---|---|",
    ]
    flat = found["ours, flat"].share
    for name, t in found.items():
        over = f"{t.share / flat:.2f}" if flat else "-"
        lines.append(
            f"| {NAMES[name]} | {t.files:.0f} | {t.read:,.0f} | {100 * t.share:.1f} % | {over} "
            f"| {t.size / 1e6:,.0f} | {t.bytes_read / 1e6:,.0f} | {t.ms:,.0f} |"
        )
    return [*lines, "", RATIO.format(found[OURS].share / flat)] if flat else lines


def _table(figures: Sequence[Figure], cell: Callable[[Figure, str], str]) -> list[str]:
    """A row for each query, a column for each contestant."""
    names = list(figures[0].values)
    head = [f"| query | {' | '.join(NAMES[name] for name in names)} |", "|---" * (len(names) + 1) + "|"]
    return head + [f"| {f.name.split(',')[0]} | {' | '.join(cell(f, name) for name in names)} |" for f in figures]


def _spread(f: Figure, name: str) -> str:
    s = summary(f.values[name])
    return number(s["median"]) + (f" ({number(s['min'])} to {number(s['max'])})" if s["n"] > 1 else "")
