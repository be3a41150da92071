"""Draws the share of files that each query reads, by contestant."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peers import pictures

from ssb.totals import shares

if TYPE_CHECKING:
    from pathlib import Path

    from peers.results import Part

NAMES = {
    "ours, star": "spark-zorder, star",
    "ours, flat": "spark-zorder, flattened",
    "delta, star": "Delta Lake, star",
    "delta, flat": "Delta Lake, flattened",
    "spark, star": "Spark, star",
}
WIDTH = 0.17
# A flattened table has the colour of its engine, but lighter.
LIGHTER = 0.45


def draw(part: Part, target: Path) -> None:
    """Draw a group of bars for each query."""
    found = shares(part)
    picture = pictures.canvas(f"{part.title}: files of the large table that a query reads", 3.6)
    axes = picture.subplots()
    contestants = list(next(iter(found.values())))
    for i, name in enumerate(contestants):
        engine, _, table = name.partition(", ")
        at = [n + (i - (len(contestants) - 1) / 2) * WIDTH for n in range(len(found))]
        axes.bar(
            at,
            [100 * values[name] for values in found.values()],
            WIDTH,
            color=pictures.COLOURS[engine],
            alpha=LIGHTER if table == "flat" else 1,
            label=NAMES[name],
        )
    axes.set_xticks(range(len(found)), list(found), fontsize=8)
    axes.set_ylabel("% of files", fontsize=9)
    axes.set_ylim(0, 105)
    axes.tick_params(axis="y", labelsize=8)
    axes.margins(x=0.01)
    axes.spines[["top", "right"]].set_visible(False)
    picture.legend(loc="outside lower center", ncols=len(contestants), fontsize=7, frameon=False)
    picture.savefig(target, metadata={"Date": None})
