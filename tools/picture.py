"""Draws the README's picture: the files of 336,776 real flights in two columns, before and after `OPTIMIZE`.

    python tools/picture.py docs/img/flights.svg

It is the lower half of what `ZOrderTable.plot_clustering` draws: a rectangle for each file, from its least to its
greatest value of both columns. The flights are those of `make demo`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parents[1]
# The 64 files follow the calendar, which says nothing of the time of day or of the distance.
COLUMNS = ("sched_dep_time", "distance")
LABELS = ("scheduled departure, hhmm", "distance in miles")


def figure(work: Path) -> Figure:
    """Cluster the flights in a folder, and draw its files."""
    sys.path.insert(0, str(ROOT / "python" / "demo"))
    from flights import Flights
    from progress import Steps
    from pyspark.sql import SparkSession
    from rich.console import Console
    from spark_zorder import ZOrderTable, configure_spark

    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    spark = configure_spark(builder.config("spark.sql.shuffle.partitions", "4")).getOrCreate()
    flights = Flights()
    flights.write(work / "flights", spark, Steps(Console()))
    table = ZOrderTable.for_path(spark, work / "flights", "parquet")
    table.create_skipping_index()
    before = table.clustering(*COLUMNS)
    table.optimize(hilbert_by=list(COLUMNS), num_files=flights.files)
    return table.plot_clustering(*COLUMNS, before=before)


def main() -> None:
    """Draw, and write the picture."""
    import matplotlib

    parser = argparse.ArgumentParser(description="Draws the picture of the README.")
    parser.add_argument("target", type=Path, help="an SVG file")
    target: Path = parser.parse_args().target
    # The same bytes each time, and text that is text.
    matplotlib.rcParams.update({"svg.hashsalt": "spark-zorder", "svg.fonttype": "none", "font.family": "sans-serif"})
    with tempfile.TemporaryDirectory() as work:
        drawn = figure(Path(work))
    upper = drawn.axes[: len(COLUMNS)]
    upper[0].get_gridspec().set_height_ratios([0.001, 1])  # type: ignore[union-attr]
    for axes in upper:
        drawn.delaxes(axes)
    for axes in drawn.axes:
        axes.set(xlabel=LABELS[0], ylabel=LABELS[1])
        # Borders that are seen at the size of the README.
        for rectangles in axes.collections:
            rectangles.set(alpha=0.35, edgecolor="#14435f", linewidth=0.8)
    drawn.suptitle("")
    drawn.set_size_inches(8.4, 3.4)
    target.parent.mkdir(parents=True, exist_ok=True)
    drawn.savefig(target, metadata={"Date": None})


if __name__ == "__main__":
    main()
