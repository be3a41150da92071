"""Draws bars of each engine and the curve of growth, for the README and the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peers import curves
from peers.results import summary

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from matplotlib.figure import Figure as Canvas

    from peers.results import Figure, Part

COLOURS = {"ours": "#2a78d6", "delta": "#e07b39", "iceberg": "#4aa3a2", "spark": "#8a8f98", "off": "#8a8f98"}
NAMES = {
    "ours": "spark-zorder",
    "delta": "Delta Lake",
    "iceberg": "Iceberg",
    "spark": "Spark's own",
    "off": "skipping off",
}


def draw(parts: Sequence[Part], stem: Path) -> list[str]:
    """Draw a picture for each part that compares engines.

    Args:
        parts: the measured parts
        stem: where to write; the part's name and `.svg` are added

    Returns:
        the names of the pictures
    """
    drawn = []
    for part in parts:
        if part.name in ("optimize", "queries", "thousand", "expressions"):
            target = stem.with_name(f"{stem.name}-{part.name}.svg")
            figures = part.figures[:1] if part.name == "expressions" else part.figures
            _bars(figures, part.title, target)
            drawn.append(target.name)
        if part.name == "growth":
            target = stem.with_name(f"{stem.name}-{part.name}.svg")
            _curve(part.figures[0], part.title, target)
            drawn.append(target.name)
        for axis in dict.fromkeys(curve.axis for curve in part.curves):
            target = stem.with_name(f"{stem.name}-{part.name}-{curves.slug(axis)}.svg")
            panels = [curve for curve in part.curves if curve.axis == axis]
            picture = canvas(f"{part.title}: {axis}", curves.height(panels))
            curves.draw(picture, panels)
            picture.savefig(target, metadata={"Date": None})
            drawn.append(target.name)
    return drawn


def _curve(figure: Figure, title: str, target: Path) -> None:
    """Draw growth with logarithmic axes. The grey line shows growth in proportion to the data."""
    picture = canvas(title, 3.4)
    axes = picture.subplots()
    scales = [float(name.split()[-1]) for name in figure.values]
    found = [summary(seconds) for seconds in figure.values.values()]
    middle = [s["median"] for s in found]
    spread = [[s["median"] - s["min"] for s in found], [s["max"] - s["median"] for s in found]]
    axes.plot(scales, [middle[-1] * s / scales[-1] for s in scales], color=COLOURS["spark"], ls="--", lw=1)
    axes.errorbar(scales, middle, yerr=spread, color=COLOURS["ours"], marker="o", ms=5, lw=1.6)
    for x, y in zip(scales, middle, strict=True):
        axes.annotate(f"{y:.3g} {figure.unit}", (x, y), (6, -12), textcoords="offset points", fontsize=8)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(scales, [f"{s:g}" for s in scales], fontsize=8)
    axes.set_xlabel("scale of TPC-H", fontsize=9)
    axes.set_ylabel(f"{figure.name}, {figure.unit}", fontsize=9)
    axes.minorticks_off()
    axes.tick_params(labelsize=8)
    axes.margins(x=0.2, y=0.15)
    axes.spines[["top", "right"]].set_visible(False)
    picture.savefig(target, metadata={"Date": None})


def canvas(title: str, height: float) -> Canvas:
    """Make an empty picture."""
    import matplotlib as mpl

    mpl.use("svg")
    # Equal figures make equal files.
    mpl.rcParams["svg.hashsalt"] = "spark-zorder"
    from matplotlib.figure import Figure as Made

    made = Made(figsize=(7.5, height), layout="constrained")
    made.suptitle(title, x=0.01, ha="left", fontsize=11)
    return made


def _bars(figures: Sequence[Figure], title: str, target: Path) -> None:
    heights = [len(f.values) + 1.4 for f in figures]
    picture = canvas(title, 0.28 * sum(heights) + 0.6)
    rows = picture.subplots(len(figures), 1, height_ratios=heights, squeeze=False)
    for [axes], figure in zip(rows, figures, strict=True):
        names = list(figure.values)
        found = [summary(figure.values[n]) for n in names]
        middle = [s["median"] for s in found]
        spread = [[s["median"] - s["min"] for s in found], [s["max"] - s["median"] for s in found]]
        colours = [COLOURS.get(n.split(",")[0], "#b9bec6") for n in names]
        axes.barh(range(len(names)), middle, xerr=spread, color=colours, height=0.7, error_kw={"lw": 0.8})
        axes.set_yticks(range(len(names)), [NAMES.get(n, n) for n in names], fontsize=8)
        axes.invert_yaxis()
        axes.set_title(f"{figure.name}, {figure.unit}", loc="left", fontsize=9)
        axes.tick_params(axis="x", labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
        top = max(s["max"] for s in found)
        for i, value in enumerate(middle):
            axes.text(found[i]["max"] + 0.01 * top, i, f"{value:.3g}", va="center", fontsize=8)
        axes.set_xlim(0, 1.12 * top)
    picture.savefig(target, metadata={"Date": None})
