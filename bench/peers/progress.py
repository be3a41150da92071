"""Sends progress from a part, which is a process of its own, to the bar that people see."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import IO, TYPE_CHECKING

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

if TYPE_CHECKING:
    from collections.abc import Sequence

MARK = "@@progress "


class Steps:
    """Counts the steps of a part. The parent process draws them."""

    def __init__(self, total: int) -> None:
        self.total = total
        self.done = 0

    def next(self, text: str) -> None:
        """Begin the next step."""
        print(MARK + json.dumps({"done": self.done, "total": self.total, "text": text}), flush=True)
        self.done += 1


def watched(command: Sequence[str], name: str, log: IO[str]) -> int:
    """Run a part. People see a bar, logs get a line for each step. The rest of its output goes to a log file."""
    columns = (TextColumn("{task.fields[part]:12}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with (
        Progress(*columns, TextColumn("{task.description}"), disable=not sys.stdout.isatty()) as bar,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process,
    ):
        task = bar.add_task("starts", part=name, total=None)
        assert process.stdout is not None
        for line in process.stdout:
            if line.startswith(MARK):
                step = json.loads(line[len(MARK) :])
                bar.update(task, completed=step["done"], total=step["total"], description=step["text"])
                if not sys.stdout.isatty():
                    print(f"{name}: {step['done'] + 1}/{step['total']} {step['text']}", flush=True)
            log.write(line)
            log.flush()
        status = process.wait()
        bar.update(task, completed=bar.tasks[0].total or 0, description="done" if status == 0 else "FAILED")
    return status
