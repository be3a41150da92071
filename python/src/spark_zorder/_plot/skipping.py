"""Draws the files that a query reads and skips. Needs matplotlib: `pip install matplotlib`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from spark_zorder._plot.clustering import axis_of
from spark_zorder.clustering import FileRange

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

_READ, _SKIPPED = "#2a6f97", "#dddddd"


@dataclass(frozen=True)
class ScanPicture:
    """What to draw of a scan.

    Attributes:
        relation: The table.
        kept: Whether a file is read, by its path.
        ranges: The bounds of up to two columns in the files that the index knows.
    """

    relation: str
    kept: Mapping[str, bool]
    ranges: Sequence[FileRange]

    @property
    def columns(self) -> list[str]:
        """The columns of the axes."""
        return list(dict.fromkeys(r.column for r in self.ranges))

    def ranges_of(self, column: str) -> dict[str, FileRange]:
        """The ranges of a column by the paths of the files."""
        return {r.path: r for r in self.ranges if r.column == column and r.path in self.kept}


def draw(scans: Sequence[ScanPicture]) -> Figure:
    """Draw a picture for each scan.

    Raises:
        ValueError: There is no scan, or no scan has files.
        ModuleNotFoundError: matplotlib is not installed.
    """
    from spark_zorder._plot.picture import Picture

    if not scans:
        raise ValueError("the query reads no files")
    figure = Picture(figsize=(5.2 * len(scans), 4.6), layout="constrained")
    for at, scan in enumerate(scans, 1):
        axes = figure.add_subplot(1, len(scans), at)
        cells = _cells(axes, scan)
        _fill(axes, scan, cells)
        axes.set_title(f"{scan.relation}\n{_sentence(scan, len(cells))}", fontsize="medium")
    return figure


def _sentence(scan: ScanPicture, drawn: int) -> str:
    read, total = sum(scan.kept.values()), len(scan.kept)
    lacking = f", {total - drawn:,} of them not drawn: the index does not know them" if drawn < total else ""
    return f"The query reads {read:,} of {total:,} files (blue){lacking}."


def _cells(axes: Axes, scan: ScanPicture) -> dict[str, Rectangle]:
    """The cells by the paths of their files."""
    from matplotlib.patches import Rectangle

    if not scan.columns:
        return _grid(axes, scan)
    along = [scan.ranges_of(column) for column in scan.columns]
    files = set.intersection(*(set(ranges) for ranges in along))
    places = [
        axis_of(axes, name, column, list(ranges.values()))
        for name, column, ranges in zip(("x", "y"), scan.columns, along, strict=False)
    ]
    spans = {path: [(at[r[path].low], at[r[path].high]) for at, r in zip(places, along, strict=True)] for path in files}
    if len(scan.columns) == 1:
        axes.set_ylabel("files, by their values")
        for rank, path in enumerate(sorted(files, key=lambda path: spans[path][0])):
            spans[path].append((rank - 0.4, rank + 0.4))
    return {path: Rectangle((x[0], y[0]), x[1] - x[0], y[1] - y[0]) for path, (x, y) in spans.items()}


def _grid(axes: Axes, scan: ScanPicture) -> dict[str, Rectangle]:
    """Without bounds, the cells are only counted."""
    from matplotlib.patches import Rectangle

    axes.set_axis_off()
    across = math.ceil(math.sqrt(len(scan.kept)))
    return {path: Rectangle((n % across, -(n // across)), 0.9, 0.9) for n, path in enumerate(sorted(scan.kept))}


def _fill(axes: Axes, scan: ScanPicture, cells: Mapping[str, Rectangle]) -> None:
    """Draw what is read above what is skipped."""
    from matplotlib.collections import PatchCollection

    for kept, colour in ((False, _SKIPPED), (True, _READ)):
        some = [cell for path, cell in cells.items() if scan.kept[path] == kept]
        # Where cells overlap, the ones below show through.
        alpha = 0.8 if len(scan.columns) < 2 else min(0.8, (12 if kept else 24) / max(len(some), 1))
        edge = "white" if len(scan.columns) == 1 else ("#1d4d68" if kept else "#999999")
        axes.add_collection(PatchCollection(some, facecolor=colour, edgecolor=edge, linewidth=0.8, alpha=alpha))
    axes.autoscale_view()
