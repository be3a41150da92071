"""Shows a line for each step of the demo, with a bar if the number of tasks is known."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

T = TypeVar("T")


class Steps:
    """The demo's steps. A terminal shows moving bars. A log gets a line when a step is done."""

    def __init__(self, console: Console) -> None:
        self._console = console
        columns = (SpinnerColumn(finished_text="✓"), TextColumn("{task.description}"), BarColumn(bar_width=30))
        self._progress = Progress(*columns, MofNCompleteColumn(), TimeElapsedColumn(), console=console)
        self._task: TaskID | None = None

    @contextmanager
    def step(self, words: str) -> Iterator[None]:
        """Run the body as one step."""
        began = time.perf_counter()
        if self._console.is_terminal:
            self._task = self._progress.add_task(words, total=None)
            with self._progress:
                yield
                total = self._progress.tasks[-1].total or 1
                self._progress.update(self._task, total=total, completed=total)
            self._progress.remove_task(self._task)
        else:
            yield
            self._console.print(f"✓ {words} ({time.perf_counter() - began:.1f} s)")

    def advance(self, done: int, total: int) -> None:
        """Show how much of the step is done."""
        if self._task is not None and self._console.is_terminal:
            self._progress.update(self._task, completed=done, total=total)

    def watch(self, spark: SparkSession, run: Callable[[], T]) -> T:
        """Run in a thread, and show the tasks of Spark's running stages meanwhile."""
        tracker = spark.sparkContext.statusTracker()
        finished: dict[int, tuple[int, int]] = {}
        with ThreadPoolExecutor(1) as threads:
            result = threads.submit(run)
            while not result.done():
                for stage in tracker.getActiveStageIds():
                    info = tracker.getStageInfo(stage)
                    if info is not None:
                        finished[stage] = (info.numCompletedTasks, info.numTasks)
                if finished:
                    self.advance(sum(d for d, _ in finished.values()), sum(n for _, n in finished.values()))
                time.sleep(0.1)
            return result.result()
