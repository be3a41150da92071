"""Draws the pictures of docs/: `python tools/draw_docs.py docs/img`.

The layouts are those that OPTIMIZE gave real tables, and the curves are those of the SQL functions. Only the diagram of
a commit's states is drawn by hand.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle
from pyspark.sql import DataFrame, SparkSession, functions
from spark_zorder import ZOrderTable, configure_spark, explain_skipping
from spark_zorder.clustering import Clustering

BLUE, RED, GREY, GREEN = "#2a6f97", "#d1495b", "#b0b0b0", "#588157"
ROWS, MOST = 40_000, 10_000


def main() -> None:
    """Draws all pictures."""
    parser = argparse.ArgumentParser(description="Draws the pictures of docs/.")
    parser.add_argument("folder", type=Path, help="where the SVG files go: docs/img")
    parser.add_argument("--png", type=Path, help="a folder for the same pictures as PNG, to look at")
    arguments = parser.parse_args()
    # The same picture is the same file, and its words stay words.
    mpl.rcParams.update({"svg.hashsalt": "spark-zorder", "svg.fonttype": "none", "font.family": "sans-serif"})
    figures = {"commit-states": commit_states(), "memory": memory()}
    with tempfile.TemporaryDirectory() as folder:
        spark = _session()
        try:
            figures |= {
                "curves": curves(spark),
                "ids": ids(spark),
                **layouts(spark, Path(folder)),
            }
        finally:
            spark.stop()
    for name, figure in figures.items():
        figure.savefig(arguments.folder / f"{name}.svg", metadata={"Date": None})
        if arguments.png:
            figure.savefig(arguments.png / f"{name}.png", dpi=80)


def _session() -> SparkSession:
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", False)
    spark = configure_spark(builder.config("spark.driver.memory", "1g")).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def curves(spark: SparkSession) -> Figure:
    """The Z-order and the Hilbert curve through 64 cells, cut into 16 files."""
    cells = spark.sql("SELECT x.id AS x, y.id AS y FROM range(8) AS x, range(8) AS y")
    figure = Figure(figsize=(8.4, 4.4), layout="constrained")
    for at, (title, place) in enumerate(
        {
            "zvalue(x, y)": functions.expr("zvalue(CAST(x AS TINYINT), CAST(y AS TINYINT))"),
            "hilbert_value(3, x, y)": functions.expr("hilbert_value(3, x, y)"),
        }.items()
    ):
        points = [(row.x, row.y) for row in cells.orderBy(place).collect()]
        axes = figure.add_subplot(1, 2, at + 1, aspect="equal")
        for first in range(0, len(points), 4):
            xs, ys = zip(*points[first : first + 4], strict=True)
            colour = BLUE if first // 4 % 2 == 0 else GREEN
            corner = (min(xs) - 0.45, min(ys) - 0.45)
            size = (max(xs) - min(xs) + 0.9, max(ys) - min(ys) + 0.9)
            axes.add_patch(Rectangle(corner, *size, facecolor=colour, alpha=0.18, edgecolor=colour))
        axes.plot(*zip(*points, strict=True), color=RED, linewidth=1.4, marker="o", markersize=3)
        for number, (x, y) in enumerate(points[:8]):
            axes.annotate(str(number), (x, y), textcoords="offset points", xytext=(4, 4), fontsize=8)
        axes.set(title=f"ORDER BY {title}", xlabel="x", ylabel="y")
    return figure


def ids(spark: SparkSession) -> Figure:
    """How many rows get each of 16 ids: by equal parts of the range of values, and by equal parts of the rows."""
    spark.sql(
        f"SELECT CAST(least(exp(1.1 * randn(7)) * 100, 1999) AS INT) AS v FROM range({ROWS})"
    ).createOrReplaceTempView("skewed")
    values = spark.table("skewed")
    low, high = values.agg(functions.min("v"), functions.max("v")).head()  # type: ignore[misc]
    by_range = [round(low + (high - low) * n / 16) for n in range(1, 16)]
    by_rows = [int(v) for v in values.approxQuantile("v", [n / 16 for n in range(1, 16)], 0.0)]
    figure = Figure(figsize=(8.4, 3.2), layout="constrained")
    for at, (title, bounds) in enumerate(
        {"16 equal parts of the values": by_range, "16 equal parts of the rows": by_rows}.items()
    ):
        listed = ", ".join(map(str, bounds))
        counted = spark.sql(f"SELECT range_id(v, array({listed})) AS id, count(*) AS rows FROM skewed GROUP BY id")
        rows = {row.id: row["rows"] / ROWS * 100 for row in counted.collect()}
        axes = figure.add_subplot(1, 2, at + 1)
        axes.bar(range(16), [rows.get(n, 0) for n in range(16)], color=(GREY, BLUE)[at])
        axes.set(title=title, xlabel="id", ylabel="% of the rows", xticks=range(0, 16, 3), ylim=(0, 60))
    return figure


def layouts(spark: SparkSession, folder: Path) -> dict[str, Figure]:
    """Pictures of tables that OPTIMIZE has written."""
    rows = spark.sql(
        f"SELECT CAST(rand(1) * {MOST} AS INT) AS a, CAST(rand(2) * {MOST} AS INT) AS b, "
        f"CAST(rand(3) * {MOST} AS INT) AS c, CAST(rand(4) * {MOST} AS INT) AS d FROM range({ROWS})"
    ).repartition(64)
    as_written = _written(spark, rows.select("a", "b"), folder / "ab")
    as_written.create_skipping_index()
    before = as_written.clustering("a", "b")
    as_written.optimize(zorder_by=["a", "b"], num_files=64)
    figures = {"before-after": as_written.plot_clustering("a", "b", before=before)}
    figures["before-after"].suptitle("")
    figures["query"] = _query(spark, as_written, folder / "ab")
    asked_rows = spark.read.parquet(str(folder / "ab")).where("a BETWEEN 3000 AND 4500 AND b > 6000")
    figures["skipped"] = explain_skipping(asked_rows).plot()
    figures["skipped"].axes[0].set_title(figures["skipped"].axes[0].get_title().splitlines()[1])

    asked: dict[str, dict[str, object]] = {
        "ORDER BY (a)": {"order_by": ["a"]},
        "ZORDER BY (a, b)": {"zorder_by": ["a", "b"]},
        "HILBERT BY (a, b)": {"hilbert_by": ["a", "b"]},
        "ZORDER BY (a WEIGHT 8, b)": {"zorder_by": {"a": 8, "b": 1}},
    }
    figures["layouts"] = _panels({title: _laid_out(as_written, **said) for title, said in asked.items()})
    figures["cuts"] = _panels(
        {
            f"'cuts' = '{cuts}'": _laid_out(
                as_written, zorder_by=["a", "b"], num_files=50, options={"cuts": cuts}, full=True
            )
            for cuts in ("equal", "aligned")
        }
    )
    figures["columns"] = _by_number_of_columns(_written(spark, rows, folder / "abcd"))
    orders = spark.sql(
        f"SELECT id AS order_id, CAST(id / 8 + 300 * rand(5) AS INT) AS day, CAST(rand(6) * {MOST} AS INT) AS customer "
        f"FROM range({ROWS})"
    ).repartition(64)
    correlated = _written(spark, orders, folder / "orders")
    by_order = _laid_out(correlated, "order_id", "day", order_by=["order_id"])
    by_both = _laid_out(correlated, "day", "customer", zorder_by=["order_id", "customer"])
    figures["correlated"] = _panels({"ORDER BY (order_id)": by_order, "ZORDER BY (order_id, customer)": by_both})
    return figures


def _written(spark: SparkSession, rows: DataFrame, folder: Path) -> ZOrderTable:
    rows.write.parquet(str(folder))
    return ZOrderTable.for_path(spark, folder)


def _laid_out(table: ZOrderTable, *shown: str, **said: object) -> Clustering:
    table.optimize(**{"num_files": 64, **said})  # type: ignore[arg-type]
    return table.clustering(*(shown or ("a", "b")))


def _panels(found: dict[str, Clustering]) -> Figure:
    across = 2
    down = -(-len(found) // across)
    figure = Figure(figsize=(4.2 * across, 4.3 * down), layout="constrained")
    for at, (title, clustering) in enumerate(found.items()):
        axes = figure.add_subplot(down, across, at + 1)
        horizontal, vertical = clustering.columns[:2]
        files = horizontal.files
        axes.set(
            title=f"{title}\n{files} files; files that a lookup reads:\n"
            f"by {horizontal.column} {horizontal.mean_files:.1f}, by {vertical.column} {vertical.mean_files:.1f}",
            xlabel=horizontal.column,
            ylabel=vertical.column,
        )
        axes.title.set_fontsize("medium")
        _draw(axes, list(_boxes(clustering).values()), BLUE)
    return figure


def _boxes(clustering: Clustering) -> dict[str, Rectangle]:
    """The files by their paths, as rectangles in the first two columns."""
    horizontal, vertical = (clustering.ranges_of(column.column) for column in clustering.columns[:2])
    boxes = {}
    for path in sorted(horizontal.keys() & vertical.keys()):
        left, right = int(horizontal[path].low), int(horizontal[path].high)
        low, high = int(vertical[path].low), int(vertical[path].high)
        boxes[path] = Rectangle((left, low), right - left, high - low)
    return boxes


def _draw(axes: Axes, boxes: Sequence[Rectangle], colour: str) -> None:
    axes.add_collection(PatchCollection(boxes, facecolor=colour, edgecolor=colour, alpha=0.35))
    axes.autoscale_view()


def _query(spark: SparkSession, table: ZOrderTable, folder: Path) -> Figure:
    """The files that a query reads and those that it leaves out, and the box that it asks for."""
    condition, (left, low, right, high) = "a BETWEEN 2000 AND 3000 AND b < 2500", (2000, 0, 3000, 2499)
    explained = explain_skipping(spark, f"SELECT * FROM parquet.`{folder}` WHERE {condition}")
    boxes = list(_boxes(table.clustering("a", "b")).values())
    read = [
        b
        for b in boxes
        if b.get_x() <= right
        and left <= b.get_x() + b.get_width()
        and b.get_y() <= high
        and low <= b.get_y() + b.get_height()
    ]
    assert (len(read), len(boxes)) == (explained.files_kept, explained.files_total)
    figure = Figure(figsize=(5.4, 4.6), layout="constrained")
    axes = figure.add_subplot()
    _draw(axes, [b for b in boxes if b not in read], GREY)
    _draw(axes, read, BLUE)
    axes.add_patch(Rectangle((left, low), right - left, high - low, fill=False, edgecolor=RED, linewidth=2))
    axes.set(title=f"WHERE {condition}\nreads {len(read)} of {len(boxes)} files", xlabel="a", ylabel="b")
    axes.title.set_fontsize("medium")
    return figure


def _by_number_of_columns(table: ZOrderTable) -> Figure:
    """The mean of files that a lookup by one of the keys reads, for one to four keys."""
    means, bounds = [], []
    for number in range(1, 5):
        keys = ["a", "b", "c", "d"][:number]
        depths = _laid_out(table, *keys, zorder_by=keys).columns
        means.append(sum(d.mean_files / d.files for d in depths) / number * 100)
        bounds.append(sum(d.bound_files / d.files for d in depths) / number * 100)
    figure = Figure(figsize=(5.4, 3.4), layout="constrained")
    axes = figure.add_subplot()
    bars = axes.bar(range(1, 5), means, color=BLUE, label="measured")
    axes.bar_label(bars, [f"{mean:.0f} %" for mean in means])
    for number, bound in enumerate(bounds, 1):
        axes.plot((number - 0.4, number + 0.4), (bound, bound), color=RED, linestyle="--")
    axes.plot([], [], color=RED, linestyle="--", label="the least that is possible")
    axes.set(xlabel="columns in ZORDER BY", ylabel="% of 64 files", xticks=range(1, 5), ylim=(0, 50))
    axes.set_title("Files that a lookup by one of the columns reads", fontsize="medium")
    axes.legend(loc="upper left")
    return figure


# States of a commit: name -> (x, y of the middle, title, what holds in it, colour).
_STATES = {
    "staging": (1.2, 3.0, "staging", "new files are written,\nrows are compared", BLUE),
    "publishing": (5.4, 3.0, ".publishing", "each folder shows\nold and new files,\nand decides", RED),
    "published": (9.6, 3.0, "-12ms.json", "the new files are\nthe table", GREEN),
    "vacuumed": (13.8, 3.0, ".vacuumed", "the old files\nare deleted", GREEN),
    "nothing": (1.2, 0.6, "nothing left", "the table\nis as it was", GREY),
    "undone": (5.4, 0.6, ".undone", "the table is as it was;\nthe reason is kept", GREY),
}
# From, to, the words on the arrow, where they are beside the arrow's middle, and how far the arrow is moved.
_STEPS = [
    ("staging", "publishing", "commit\npoint", (0, 0.2), 0.0),
    ("publishing", "published", "folders\nexchanged", (0, 0.2), 0.0),
    ("published", "vacuumed", "VACUUM", (0, 0.2), 0.0),
    ("staging", "nothing", "error\nor death", (-0.7, 0), 0.0),
    ("publishing", "undone", "all folders\nkeep their files", (1.1, 0), 0.0),
]


def commit_states() -> Figure:
    """The states of an operation, by the name of its record."""
    figure = Figure(figsize=(9.6, 3.0), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlim=(-0.15, 15.35), ylim=(-0.2, 4.0))
    axes.axis("off")
    for x, y, title, text, colour in _STATES.values():
        axes.add_patch(
            FancyBboxPatch(
                (x - 1.25, y - 0.62), 2.5, 1.24, boxstyle="round,pad=0.08", facecolor="white", edgecolor=colour, lw=1.8
            )
        )
        axes.text(x, y + 0.38, title, ha="center", va="center", fontsize=9, weight="bold")
        axes.text(x, y - 0.2, text, ha="center", va="center", fontsize=7.5)
    for begin, end, words, (right, up), moved in _STEPS:
        _arrow(axes, begin, end, moved)
        (x0, y0), (x1, y1) = _STATES[begin][:2], _STATES[end][:2]
        x, y = (x0 + x1) / 2 + right, (y0 + y1) / 2 + up
        axes.text(x, y, words, ha="center", va="center" if right else "bottom", fontsize=7)
    return figure


def memory() -> Figure:
    """The times of filters that come again, as `make bench` measured them last."""
    results = sorted((Path(__file__).parents[1] / "bench" / "results").glob("bench-*.json"))
    parts = [part for file in results for part in json.loads(file.read_text())["parts"] if part["name"] == "memory"]
    measured = [f for f in parts[-1]["figures"] if "ours, again" in f["values"]]
    tables = {"memory-wide": "124 files", "memory-ssb": "1,000 files"}
    shown = {"delta": ("Delta Lake", RED), "ours, first": ("the first time", GREY), "ours, again": ("again", BLUE)}
    figure = Figure(figsize=(9.6, 4.6), layout="constrained")
    for axes, (table, title) in zip(figure.subplots(1, 2), tables.items(), strict=True):
        rows = [f for f in measured if f["name"].startswith(table)]
        for at, (engine, (label, colour)) in enumerate(shown.items()):
            middle = [statistics.median(f["values"][engine]) for f in rows]
            axes.barh([i + 0.27 * (at - 1) for i in range(len(rows))], middle, 0.25, color=colour, label=label)
        axes.set_yticks(range(len(rows)), [f["name"].split(", ", 1)[1] for f in rows], fontsize=8)
        axes.invert_yaxis()
        axes.set_title(title, loc="left", fontsize=9)
        axes.set_xlabel("milliseconds, median", fontsize=8)
        axes.tick_params(labelsize=8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.legend(*axes.get_legend_handles_labels(), fontsize=8, frameon=False, ncols=3, loc="outside upper right")
    return figure


def _arrow(axes: Axes, begin: str, end: str, moved: float) -> None:
    (x0, y0), (x1, y1) = _STATES[begin][:2], _STATES[end][:2]
    if y0 == y1:
        points = (x0 + 1.38, y0), (x1 - 1.38, y1)
    else:
        side = 0.75 if y1 > y0 else -0.68
        aside = 0.0 if x0 == x1 else 0.4 if x0 > x1 else -0.4
        points = (x0 + moved, y0 + side), (x1 + moved + aside, y1 - side)
    axes.add_patch(FancyArrowPatch(*points, arrowstyle="-|>", mutation_scale=12, color="black", lw=1))


if __name__ == "__main__":
    main()
