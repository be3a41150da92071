"""The demo: plain Parquet files, five questions, one OPTIMIZE, and the same five answers from fewer files."""

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
    from pyspark.sql import Row, SparkSession


@dataclass(frozen=True)
class Answer:
    """The files that a question reads, its time, and all rows of its answer in one fixed order."""

    files_total: int
    files_kept: int
    bytes_kept: int
    seconds: float
    rows: pyarrow.Table


def sorted_rows(table: pyarrow.Table) -> pyarrow.Table:
    """Sort the rows by all columns."""
    return table.sort_by([(name, "ascending") for name in table.column_names])


def ask(spark: SparkSession, folder: Path, question: Question) -> Answer:
    """Ask three times. Returns the median time, the files, and the rows of the last time."""
    query = f"SELECT * FROM parquet.`{folder}` WHERE {question.predicate}"
    scans = explain_skipping(spark, query).collect()
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
    )
    return configure_spark(builder).getOrCreate()


def answers_table(dataset: Dataset, before: list[Answer], after: list[Answer]) -> Table:
    """Show each question, before and after."""
    table = Table(title=dataset.title, title_justify="left", caption_justify="left")
    table.add_column("Question")
    for heading in ("Rows", "Files before", "after", "MB before", "after", "ms before", "after"):
        table.add_column(heading, justify="right")
    for question, old, new in zip(dataset.questions, before, after, strict=True):
        table.add_row(
            question.words,
            f"{old.rows.num_rows:,}",
            f"{old.files_kept} of {old.files_total}",
            f"{new.files_kept} of {new.files_total}",
            f"{old.bytes_kept / 1e6:.1f}",
            f"{new.bytes_kept / 1e6:.1f}",
            f"{old.seconds * 1e3:.0f}",
            f"{new.seconds * 1e3:.0f}",
        )
    return table


def lookups_table(clustering: list[Row]) -> Table:
    """Show the files that a point lookup reads, for each key and in the mean, as OPTIMIZE measured them."""
    table = Table(title="Mean files a point lookup reads", title_justify="left", min_width=34)
    table.add_column("Column")
    for heading in ("before", "after"):
        table.add_column(heading, justify="right")
    for key in clustering:
        table.add_row(key["column"], f"{key['meanFilesBefore']:.1f}", f"{key['meanFilesAfter']:.1f}")
    mean = [statistics.mean(key[when] for key in clustering) for when in ("meanFilesBefore", "meanFilesAfter")]
    table.add_row("mean", f"{mean[0]:.1f}", f"{mean[1]:.1f}", style="bold")
    return table


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
        steps.watch(spark, lambda: table.create_skipping_index().collect())
    with steps.step("Ask five questions"):
        # The first time warms the JVM up. Otherwise its slow start would count as time saved by OPTIMIZE.
        ask_all(spark, folder, dataset, steps)
        before = ask_all(spark, folder, dataset, steps)
    began = time.perf_counter()
    with steps.step(f"OPTIMIZE .. ZORDER BY ({', '.join(dataset.keys)})"):
        options = {"num-files": dataset.files}
        [result] = steps.watch(spark, lambda: table.optimize(dataset.keys, options=options).collect())
    took = time.perf_counter() - began
    with steps.step("Ask the same five questions"):
        after = ask_all(spark, folder, dataset, steps)
    spark.stop()
    with steps.step("Read the table with plain pyarrow"):
        plain = read_plainly(folder)

    console.print()
    console.print(answers_table(dataset, before, after))
    console.print(lookups_table(result["metrics"]["clustering"]))
    wrong = [
        question.words
        for question, old, new in zip(dataset.questions, before, after, strict=True)
        if not old.rows.equals(new.rows)
    ]
    for words in wrong:
        console.print(f"[red]✗ the answer has changed: {words}")
    if not wrong:
        console.print(f"✓ All {len(before)} answers are the same, row by row.")
    if original is None:
        same, compared = plain.num_rows == rows, "as many as before"
    else:
        same, compared = sorted_rows(plain.select(original.column_names)).equals(original), "each as before"
    console.print(f"{'✓' if same else '[red]✗'} pyarrow alone reads {plain.num_rows:,} rows, {compared}.")
    console.print(f"OPTIMIZE took {took:.1f} s for {rows:,} rows. The table is in {folder}")
    return same and not wrong


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
