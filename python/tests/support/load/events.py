"""Events of many threads of a process, written as a line of JSON each."""

import json
import threading
import time
from pathlib import Path
from typing import Any

RIGHT, WRONG = "right", "wrong"
"""Outcomes besides the condition of an error."""


class Events:
    """A file of events."""

    def __init__(self, file: Path) -> None:
        self._file = file.open("a")
        self._lock = threading.Lock()

    def add(self, what: str, began: float, outcome: str, **more: Any) -> None:
        """Write an event that ends now, and began so many seconds after 1970. A `problem` in it fails the run."""
        event = {"what": what, "began": began, "ended": time.time(), "outcome": outcome, **more}
        with self._lock:
            self._file.write(json.dumps(event, default=str) + "\n")
            self._file.flush()


def read(folder: Path) -> list[dict[str, Any]]:
    """Read the events of all processes in this folder."""
    # The last line may be incomplete.
    lines = (line for file in sorted(folder.glob("*.jsonl")) for line in file.read_text().split("\n")[:-1])
    return [json.loads(line) for line in lines]
