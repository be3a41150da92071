"""Draws curves of growth. Both axes are logarithmic. The grey line shows growth in proportion to the size."""

from __future__ import annotations

import re
import statistics
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure as Canvas

    from peers.results import Curve

GREY = "#8a8f98"
COLOURS = ("#2a78d6", "#e07b39", "#4aa3a2", "#8d5bb5", "#c2436b", "#6a9a2d", "#b58a1b", "#3a4a63", "#d6862a")
LEAST = 1.0


def slug(axis: str) -> str:
    """The axis as part of a file name."""
    return re.sub(r"\W+", "-", axis)


def height(panels: Sequence[Curve]) -> float:
    """The size in inches, with a row for each panel."""
    return 0.5 + 3.3 * len(panels)


def draw(picture: Canvas, panels: Sequence[Curve]) -> None:
    """Draw a panel for each curve, with the names of the lines beside it. Spark's own work is grey and dotted."""
    rows = picture.subplots(len(panels), 1, squeeze=False)
    for [axes], curve in zip(rows, panels, strict=True):
        _panel(axes, curve)


def _panel(axes: Any, curve: Curve) -> None:
    colours, marks = iter(COLOURS), iter("os^D")
    middles = {k: [statistics.median(v) for v in values] for k, values in curve.lines.items()}
    # A time below the resolution of the processor clock is drawn at the bottom.
    shown = {k: [max(LEAST, m) for m in middle] for k, middle in middles.items()}
    largest = max(m for middle in shown.values() for m in middle)
    smallest = min(m for middle in shown.values() for m in middle)
    axes.set_xscale("log")
    axes.set_yscale("log")
    ends = (curve.sizes[0], curve.sizes[-1])
    axes.plot(ends, [largest * 1.6 * n / ends[1] for n in ends], color=GREY, ls="--", lw=1, label="linear")
    for name, middle in shown.items():
        is_spark = name.startswith("Spark")
        colour = GREY if is_spark else next(colours)
        below = [m - max(LEAST, min(v)) for m, v in zip(middle, curve.lines[name], strict=True)]
        above = [max(LEAST, *v) - m for m, v in zip(middle, curve.lines[name], strict=True)]
        spread = [[max(0.0, b) for b in below], [max(0.0, a) for a in above]]
        mark = next(marks) if is_spark else "o"
        style = {"color": colour, "ls": ":" if is_spark else "-", "marker": mark, "ms": 4, "lw": 1.5, "elinewidth": 0.7}
        axes.errorbar(curve.sizes, middle, yerr=spread, label=name, **style)
    axes.set_ylim(smallest * 0.6, largest * 2.2)
    axes.set_xticks(curve.sizes, [f"{n:,}" for n in curve.sizes], fontsize=8)
    axes.minorticks_off()
    axes.tick_params(labelsize=8)
    axes.set_xlabel(curve.axis.split(",")[0], fontsize=9)
    axes.set_ylabel(curve.unit, fontsize=9)
    if curve.panel:
        axes.set_title(curve.panel, loc="left", fontsize=9)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=7, frameon=False)
