"""The pictures of a table's clustering."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from spark_zorder import Clustering, ZOrderTable
from spark_zorder._plot.clustering import MOST_BARS, draw
from spark_zorder.clustering import ColumnDepth, FileRange, positions

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from pyspark.sql import SparkSession


def heights(axes: Axes) -> list[float]:
    return [bar.get_height() for bars in axes.containers for bar in bars]


def boxes(axes: Axes) -> list[tuple[float, float, float, float]]:
    """Left, low, right, high of each rectangle."""
    # The environments of older Sparks only collect this file. They have no matplotlib.
    from matplotlib.collections import PatchCollection

    (drawn,) = (c for c in axes.collections if isinstance(c, PatchCollection))
    found = [path.get_extents() for path in drawn.get_paths()]
    return [(float(b.x0), float(b.y0), float(b.x1), float(b.y1)) for b in found]


def png(figure: Figure, folder: Path) -> bytes:
    figure.savefig(folder / "drawn.png")
    return (folder / "drawn.png").read_bytes()


def test_an_axis_of_dates_shows_dates(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    spark.range(400).selectExpr("date_add(DATE'2026-01-01', CAST(id AS INT)) AS day", "id").write.parquet(str(folder))
    table = ZOrderTable.for_path(spark, str(folder), "parquet")
    table.optimize(["day", "id"], options={"num-files": 4})
    figure = table.plot_clustering("day", "id")
    axes = figure.axes[-1]
    figure.canvas.draw()
    labels = [text.get_text() for text in axes.get_xticklabels()]
    assert "2026-" in "".join(labels)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", label) for label in labels if label)


@pytest.mark.test_rest
def test_before_and_after(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    rows = spark.range(4000).selectExpr("id * 7919 % 1000 AS a", "concat('k', lpad(id * 104729 % 1000, 4, '0')) AS s")
    rows.repartition(16).write.parquet(str(folder))
    table = ZOrderTable.for_path(spark, str(folder), "parquet")
    before = table.clustering("a", "s")
    assert before.ranges is None
    assert all(15 < c.mean_files <= 16 for c in before.columns)
    table.optimize(["a", "s"], options={"num-files": 16, "cuts": "equal"})
    now = table.clustering("a", "s")
    figure = table.plot_clustering("a", "s", before=before)

    first, second, rectangles = figure.axes
    assert [axes.get_title() for axes in (first, second)] == ["a", "s"]
    legend = first.get_legend()
    assert legend is not None
    words = {text.get_text() for text in legend.get_texts()}
    assert words == {
        f"before: {before.columns[0].mean_files:.1f} of 16 files",
        f"now: {now.columns[0].mean_files:.1f} of 16 files",
        "bound: 4.0",
    }
    # Before, nearly all files may hold nearly every value. Now no value is missing from the histogram either.
    assert 0.8 < heights(first)[16] < 1.0
    assert sum(heights(first)) == pytest.approx(2.0)
    assert rectangles.get_title() == "now: 16 files"
    assert (rectangles.get_xlabel(), rectangles.get_ylabel()) == ("a", "s, by rank")
    drawn = boxes(rectangles)
    assert len(drawn) == 16
    assert min(b[0] for b in drawn) == 0
    assert max(b[2] for b in drawn) == 999
    # The statement gives the same number of files for a value.
    at = 500
    assert sum(left <= at <= right for left, _, right, _ in drawn) <= now.columns[0].max_files
    assert png(figure, tmp_path).startswith(b"\x89PNG")


@pytest.mark.test_rest
def test_the_map_of_before_shares_the_axes(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    spark.range(1000).selectExpr("id % 100 AS a", "DATE '2024-01-01' + int(id % 90) AS day").repartition(
        8
    ).write.parquet(str(folder))
    table = ZOrderTable.for_path(spark, str(folder))
    table.create_skipping_index()
    before = table.clustering("a", "day")
    spark.sql(f"OPTIMIZE {table.target} HILBERT BY (a, day) OPTIONS ('num-files' = '8')")
    *_, left, right = table.plot_clustering("a", "day", before=before).axes
    assert (left.get_title(), right.get_title()[:4]) == ("before: 8 files", "now:")
    assert left.get_xlim() == right.get_xlim()
    assert left.get_ylim() == right.get_ylim()
    assert right.get_ylabel() == "day"


def depth(column: str, *histogram: int) -> ColumnDepth:
    return ColumnDepth(column, 3, 1.5, len(histogram) - 1, 1.0, histogram)


def test_columns_that_were_not_asked_for_before() -> None:
    before = Clustering("t", (depth("a", 0, 1),), None)
    with pytest.raises(ValueError, match=r"`before` lacks b: call clustering\(\) with the same columns"):
        draw(Clustering("t", (depth("a", 0, 1), depth("b", 0, 1)), None), before)
    with pytest.raises(ValueError, match="t has no column with an order"):
        draw(Clustering("t", (), None), None)


def test_one_column_has_no_map_and_many_depths_are_drawn_together() -> None:
    ranges = (FileRange("f", "a", "INT", "1", "2"),)
    deep = draw(Clustering("t", (depth("a", *range(1000)),), ranges), None)
    (axes,) = deep.axes
    assert len(heights(axes)) == MOST_BARS
    assert sum(heights(axes)) == pytest.approx(1.0)


def test_files_without_bounds_are_told() -> None:
    ranges = tuple(FileRange(f, c, "INT", "1", "2") for f in "xy" for c in "ab")
    *_, axes = draw(Clustering("t", (depth("a", 0, 1), depth("b", 0, 1)), ranges), None).axes
    assert axes.get_title() == "now: 2 files of 3, the others have no index"


def test_places_on_an_axis() -> None:
    assert positions(["-1.5", "2"], "DOUBLE") == {"-1.5": -1.5, "2": 2.0}
    assert positions(["10", "9"], "DECIMAL(9,2)") == {"10": 10.0, "9": 9.0}
    days = positions(["2024-01-01", "2024-01-03"], "DATE")
    assert days["2024-01-03"] - days["2024-01-01"] == 2
    moments = positions(["2024-01-01 00:00:00", "2024-01-01 12:00:00"], "TIMESTAMP")
    assert moments["2024-01-01 12:00:00"] - moments["2024-01-01 00:00:00"] == 0.5
    # By bytes, as in Spark, and by rank even if one of them is not a date in Python.
    assert positions(["b", "a", "é"], "STRING") == {"a": 0.0, "b": 1.0, "é": 2.0}
    assert positions(["+12024-01-01", "2024-01-01"], "DATE") == {"+12024-01-01": 0.0, "2024-01-01": 1.0}


def test_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ModuleNotFoundError):
        draw(Clustering("t", (depth("a", 0, 1),), None), None)
