"""Draws a table's clustering. Needs matplotlib: `pip install matplotlib`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING

from spark_zorder.clustering import Clustering, ColumnDepth, FileRange, is_measured, positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_BARS = 40
_BEFORE, _NOW, _BOUND = "#b0b0b0", "#2a6f97", "#d1495b"


def draw(now: Clustering, before: Clustering | None) -> Figure:
    """Draw a histogram of files per lookup for each column, and the files as rectangles in the first two columns.

    A sentence for each column says what they show.

    The columns are those of `now`, in the same order.

    Raises:
        ValueError: There is no column, or `before` lacks one.
        ModuleNotFoundError: matplotlib is not installed.
    """
    from spark_zorder._plot.picture import Picture

    if not now.columns:
        raise ValueError(f"{now.target} has no column with an order")
    lacking = [c.column for c in now.columns if before and before.depth(c.column) is None]
    if lacking:
        raise ValueError(f"`before` lacks {', '.join(lacking)}: call clustering() with the same columns")
    maps = [("now", now)] if len(now.columns) > 1 and now.ranges is not None else []
    if maps and before and before.ranges is not None:
        maps.insert(0, ("before", before))
    across = max(len(now.columns), len(maps))
    figure = Picture(figsize=(4.2 * across, 3.4 * (2 if maps else 1)), layout="constrained")
    grid = figure.add_gridspec(2 if maps else 1, across)
    for at, column in enumerate(now.columns):
        _histogram(figure.add_subplot(grid[0, at]), column, before.depth(column.column) if before else None)
    if maps:
        pair = [c.column for c in now.columns[:2]]
        shared: Axes | None = None
        for at, (when, clustering) in enumerate(maps):
            axes = figure.add_subplot(grid[1, at], sharex=shared, sharey=shared)
            shared = shared or axes
            _rectangles(axes, when, clustering, pair, [c for _, c in maps])
    figure.suptitle(now.target)
    pairs = [(c, before.depth(c.column) if before else None) for c in now.columns]
    figure.supxlabel("\n".join(_sentence(*pair) for pair in pairs), fontsize="medium")
    return figure


def _histogram(axes: Axes, now: ColumnDepth, before: ColumnDepth | None) -> None:
    from matplotlib.ticker import MaxNLocator

    longest = max(len(c.histogram) for c in (now, before) if c)
    width = max(math.ceil(longest / MOST_BARS), 1)
    for column, colour, word in ((before, _BEFORE, "before"), (now, _NOW, "now")):
        if column is None:
            continue
        shares = _shares(column.histogram, width)
        said = f"{word}: {column.mean_files:.1f} of {column.files:,} files"
        places = [(n + 0.5) * width - 0.5 for n in range(len(shares))]
        axes.bar(places, shares, width=width, color=colour, alpha=0.75, label=said)
        axes.axvline(column.mean_files, color=colour, linewidth=1)
    axes.axvline(now.bound_files, color=_BOUND, linestyle="--", label=f"bound: {now.bound_files:.1f}")
    axes.set_title(now.column)
    axes.set_xlabel("files that may hold a value")
    axes.set_ylabel("share of the rows")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    # Leaves room for the legend above the bars.
    axes.set_ylim(0, axes.get_ylim()[1] * 1.4)
    axes.legend(fontsize="small", loc="upper center")


def _shares(histogram: Sequence[int], width: int) -> list[float]:
    rows = sum(histogram) or 1
    return [sum(histogram[at : at + width]) / rows for at in range(0, len(histogram), width)]


def _rectangles(axes: Axes, when: str, of: Clustering, pair: Sequence[str], shown: Sequence[Clustering]) -> None:
    """Draw one map. All `shown` clusterings share its axes, so a text's position is its rank among all their values."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    places = [
        axis_of(axes, name, column, [r for c in shown for r in c.ranges_of(column).values()])
        for column, name in zip(pair, ("x", "y"), strict=True)
    ]
    horizontal, vertical = (of.ranges_of(column) for column in pair)
    files = sorted(horizontal.keys() & vertical.keys())
    boxes = []
    for path in files:
        (left, right), (low, high) = (
            (at[r.low], at[r.high]) for at, r in zip(places, (horizontal[path], vertical[path]), strict=True)
        )
        boxes.append(Rectangle((left, low), right - left, high - low))
    axes.add_collection(PatchCollection(boxes, facecolor=_NOW, edgecolor=_NOW, alpha=min(0.5, 8 / max(len(boxes), 1))))
    axes.autoscale_view()
    total = of.columns[0].files
    axes.set_title(
        f"{when}: {len(files):,} files" + (f" of {total:,}, the others have no index" if len(files) < total else "")
    )


def axis_of(axes: Axes, name: str, column: str, ranges: Sequence[FileRange]) -> Mapping[str, float]:
    """Label the axis `x` or `y` for a column, and say where its values are on it."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    data_type = ranges[0].data_type if ranges else ""
    label = column if is_measured(data_type) else f"{column}, by rank"
    axes.set(**{f"{name}label": label})
    if data_type == "DATE" or data_type.startswith("TIMESTAMP"):
        axis = axes.xaxis if name == "x" else axes.yaxis
        axis.set_major_formatter(FuncFormatter(lambda at, _: date.fromordinal(max(1, round(at))).isoformat()))
        axis.set_major_locator(MaxNLocator(4, integer=True))
    return positions([t for r in ranges for t in (r.low, r.high)], data_type)


def _sentence(now: ColumnDepth, before: ColumnDepth | None) -> str:
    """What a histogram says, for a reader who sees one for the first time."""
    earlier = f", before: {before.mean_files:.1f} of {before.files:,}" if before else ""
    return (
        f"A query for one value of {now.column} reads {now.mean_files:.1f} of {now.files:,} files{earlier}. "
        f"The best for all columns alike is {now.bound_files:.1f}."
    )
