"""Shows how a statement spends its time, from the event log that Spark writes."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

PREFIX = "internal.metrics."


@dataclass(frozen=True)
class Stage:
    """A completed stage; times in seconds, sizes in MB."""

    began: float
    ended: float
    tasks: int
    run: float
    cpu: float
    gc: float
    read: float
    shuffled: float
    shuffle_write: float
    written: float
    spilled: float


def stages(folder: Path) -> list[Stage]:
    """Read the stages of the newest log in a folder."""
    logs = [p for p in folder.iterdir() if not p.name.startswith(".")]
    newest = max(logs, key=lambda p: p.stat().st_mtime)
    with newest.open() as lines:
        return [_stage(event["Stage Info"]) for event in _events(lines) if "Completion Time" in event["Stage Info"]]


def _events(lines: Iterable[str]) -> Iterator[dict[str, Any]]:
    for line in lines:
        if '"SparkListenerStageCompleted"' in line[:60]:
            yield json.loads(line)


def _stage(info: dict[str, Any]) -> Stage:
    metrics = {a["Name"]: a.get("Value", 0) for a in info["Accumulables"] if str(a.get("Name", "")).startswith(PREFIX)}

    def of(name: str, unit: float) -> float:
        return float(metrics.get(PREFIX + name, 0)) / unit

    return Stage(
        info["Submission Time"] / 1e3,
        info["Completion Time"] / 1e3,
        info["Number of Tasks"],
        of("executorRunTime", 1e3),
        of("executorCpuTime", 1e9),
        of("jvmGCTime", 1e3),
        of("input.bytesRead", 1e6),
        of("shuffle.write.bytesWritten", 1e6),
        of("shuffle.write.writeTime", 1e9),
        of("output.bytesWritten", 1e6),
        of("diskBytesSpilled", 1e6),
    )


def told(of: Iterable[Stage], began: float, ended: float) -> list[str]:
    """Describe each stage within a time span in one line, and the time outside of stages."""
    inside = [s for s in of if began - 0.5 <= s.began and s.ended <= ended + 0.5 and s.run >= 0.05]
    lines = []
    for n, s in enumerate(inside, 1):
        lines.append(
            f"stage {n}: {s.ended - s.began:.1f} s, {s.tasks} tasks of {s.run:.1f} s together (processor {s.cpu:.1f}, "
            f"garbage {s.gc:.1f}); read {s.read:.0f} MB, shuffled {s.shuffled:.0f} MB in {s.shuffle_write:.1f} s, "
            f"wrote {s.written:.0f} MB, spilled {s.spilled:.0f} MB"
        )
    covered = _union(inside)
    lines.append(f"outside of stages: {ended - began - covered:.1f} of {ended - began:.1f} s")
    return lines


def _union(of: list[Stage]) -> float:
    total, until = 0.0, 0.0
    for s in sorted(of, key=lambda s: s.began):
        total += max(0.0, s.ended - max(s.began, until))
        until = max(until, s.ended)
    return total
