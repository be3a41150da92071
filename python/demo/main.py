"""The demo: plain Parquet files, five questions, one OPTIMIZE, the same answers from fewer files, and a picture."""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dataset import Dataset, Question
from flights import Flights
from progress import Steps
from rich.console import Console
from rich.table import Table
from tpch import Tpch

from spark_zorder import ZOrderTable, configure_spark, explain_skipping

if TYPE_CHECKING:
    import pyarrow
    from pyspark.sql import SparkSession

    from spark_zorder import Clustering


@dataclass(frozen=True)
class Answer:
    """The files that a question reads, its time, and all rows of its answer in one fixed order."""

    files_total: int
    files_kept: int
    bytes_kept: int
    seconds: float
    rows: pyarrow.Table


@dataclass(frozen=True)
class Comparison:
    """A question and its answers before and after OPTIMIZE."""

    question: Question
    before: Answer
    after: Answer

    @property
    def same(self) -> bool:
        """Whether both answers have the same rows."""
        return bool(self.before.rows.equals(self.after.rows))

    def line(self) -> str:
        """The check of the answer, and what changed in files, bytes and time."""
        if not self.same:
            return f"[red]✗ {self.question.words}: the answer has changed"
        before, after = self.before, self.after
        changes = (
            f"{before.files_kept} → {after.files_kept} files",
            f"{before.bytes_kept / 1e6:.1f} → {after.bytes_kept / 1e6:.1f} MB",
            f"{before.seconds * 1e3:.0f} → {after.seconds * 1e3:.0f} ms",
        )
        return f"✓ {self.question.words}: {', '.join(changes)}, the same {after.rows.num_rows:,} rows"


def sorted_rows(table: pyarrow.Table) -> pyarrow.Table:
    """Sort the rows by all columns."""
    return table.sort_by([(name, "ascending") for name in table.column_names])


def ask(spark: SparkSession, folder: Path, question: Question) -> Answer:
    """Ask three times. Returns the median time, the files, and the rows of the last time."""
    query = f"SELECT * FROM parquet.`{folder}` WHERE {question.predicate}"
    scans = explain_skipping(spark, query).df.collect()
    times = []
    for _ in range(3):
        began = time.perf_counter()
        rows = spark.sql(query).toArrow()
        times.append(time.perf_counter() - began)
    return Answer(
        files_total=sum(scan["files_total"] for scan in scans),
        files_kept=sum(scan["files_kept"] for scan in scans),
        bytes_kept=sum(scan["bytes_kept"] for scan in scans),
        seconds=statistics.median(times),
        rows=sorted_rows(rows),
    )


def ask_all(spark: SparkSession, folder: Path, dataset: Dataset, steps: Steps) -> list[Answer]:
    """Ask all questions."""
    answers = []
    for number, question in enumerate(dataset.questions, 1):
        answers.append(ask(spark, folder, question))
        steps.advance(number, len(dataset.questions))
    return answers


def start_spark(work: Path) -> SparkSession:
    """Start a session on all cores, with the extension and without the user's own settings."""
    from pyspark.sql import SparkSession

    os.environ["SPARK_CONF_DIR"] = str(Path(__file__).parent / "conf")
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    builder = (
        SparkSession.builder.master("local[*]")
        .appName("spark-zorder demo")
        .config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.warehouse.dir", str(work / "warehouse"))
        .config("spark.local.dir", str(work / "scratch"))
        # Each question comes several times, and is to show what the layout does.
        .config("spark.zorder.memory.enabled", "false")
    )
    return configure_spark(builder).getOrCreate()


def answers_table(title: str, comparisons: list[Comparison]) -> Table:
    """Show each question, before and after."""
    table = Table(title=title, title_justify="left", caption_justify="left")
    table.add_column("Question")
    for heading in ("Rows", "Files before", "after", "MB before", "after", "ms before", "after"):
        table.add_column(heading, justify="right")
    for compared in comparisons:
        old, new = compared.before, compared.after
        table.add_row(
            compared.question.words,
            f"{old.rows.num_rows:,}",
            f"{old.files_kept} of {old.files_total}",
            f"{new.files_kept} of {new.files_total}",
            f"{old.bytes_kept / 1e6:.1f}",
            f"{new.bytes_kept / 1e6:.1f}",
            f"{old.seconds * 1e3:.0f}",
            f"{new.seconds * 1e3:.0f}",
        )
    return table


def lookups_table(before: Clustering, after: Clustering) -> Table:
    """Show the files that a point lookup reads, for each key and in the mean."""
    table = Table(title="Mean files a point lookup reads", title_justify="left", min_width=34)
    table.add_column("Column")
    for heading in ("before", "after"):
        table.add_column(heading, justify="right")
    for old, new in zip(before.columns, after.columns, strict=True):
        table.add_row(new.column, f"{old.mean_files:.1f}", f"{new.mean_files:.1f}")
    mean = [statistics.mean(column.mean_files for column in when.columns) for when in (before, after)]
    table.add_row("mean", f"{mean[0]:.1f}", f"{mean[1]:.1f}", style="bold")
    return table


def draw(table: ZOrderTable, dataset: Dataset, before: Clustering, file: Path) -> Clustering:
    """Draw the files before and after OPTIMIZE as a PNG. Returns the clustering after it."""
    # Matplotlib keeps a list of fonts. The user's home stays as it is.
    os.environ.setdefault("MPLCONFIGDIR", str(file.parent / "matplotlib"))
    figure = table.plot_clustering(*dataset.keys, before=before)
    figure.suptitle(f"{dataset.title}: files before and after OPTIMIZE .. ZORDER BY ({', '.join(dataset.keys)})")
    figure.savefig(file, dpi=120)
    return table.clustering(*dataset.keys)


def read_plainly(folder: Path) -> pyarrow.Table:
    """Read all rows with a reader that knows nothing of this project."""
    from pyarrow import dataset

    return dataset.dataset(folder, format="parquet").to_table()


def run(dataset: Dataset, folder: Path, console: Console) -> bool:
    """Run the demo. Returns whether all answers and rows are the same."""
    steps = Steps(console)
    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with steps.step("Start Spark"):
        spark = start_spark(folder.parent)
    with steps.step("Write the plain Parquet table"):
        rows = dataset.write(folder, spark, steps)
    # Sorting all rows of a wide table to compare them would take longer than the demo.
    original = sorted_rows(read_plainly(folder)) if rows < 1_000_000 else None
    table = ZOrderTable.for_path(spark, str(folder), "parquet")
    with steps.step("Collect statistics of the files as they are"):
        steps.watch(spark, table.create_skipping_index)
    with steps.step("Ask five questions"):
        # The first time warms the JVM up. Otherwise its slow start would count as time saved by OPTIMIZE.
        ask_all(spark, folder, dataset, steps)
        before = ask_all(spark, folder, dataset, steps)
    with steps.step("Count the files that a lookup reads"):
        clustering = steps.watch(spark, lambda: table.clustering(*dataset.keys))
    began = time.perf_counter()
    with steps.step(f"OPTIMIZE .. ZORDER BY ({', '.join(dataset.keys)})"):
        options = {"membership-columns": ", ".join(dataset.values) or "none"}
        steps.watch(spark, lambda: table.optimize(dataset.keys, num_files=dataset.files, options=options))
    took = time.perf_counter() - began
    with steps.step("Ask the same five questions"):
        after = ask_all(spark, folder, dataset, steps)
    picture = folder.parent / f"{folder.name}.png"
    with steps.step("Draw the files before and after"):
        now = draw(table, dataset, clustering, picture)
    spark.stop()
    with steps.step("Read the table with plain pyarrow"):
        plain = read_plainly(folder)

    console.print()
    comparisons = [Comparison(*parts) for parts in zip(dataset.questions, before, after, strict=True)]
    console.print(answers_table(dataset.title, comparisons))
    console.print(lookups_table(clustering, now))
    for comparison in comparisons:
        console.print(comparison.line())
    answers_same = all(comparison.same for comparison in comparisons)
    if answers_same:
        console.print(f"✓ All {len(comparisons)} answers are the same, row by row.")
    if original is None:
        same, compared = plain.num_rows == rows, "as many as before"
    else:
        same, compared = sorted_rows(plain.select(original.column_names)).equals(original), "each as before"
    console.print(f"{'✓' if same else '[red]✗'} pyarrow alone reads {plain.num_rows:,} rows, {compared}.")
    console.print(f"OPTIMIZE took {took:.1f} s for {rows:,} rows. The table is in {folder}")
    console.print(f"The picture of its files before and after is {picture}", soft_wrap=True)
    return same and answers_same


def main() -> int:
    """Read the command line and run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", choices=("flights", "tpch"), default="flights")
    parser.add_argument("--scale", type=float, default=1.0, help="the scale of TPC-H")
    parser.add_argument("--out", type=Path, default=Path("build/demo"))
    options = parser.parse_args()
    dataset: Dataset = Flights() if options.data == "flights" else Tpch(options.scale)
    name = "flights" if options.data == "flights" else f"tpch-{options.scale:g}"
    width = None if sys.stdout.isatty() else 120
    return 0 if run(dataset, options.out.absolute() / name, Console(width=width, highlight=False)) else 1


if __name__ == "__main__":
    sys.exit(main())
