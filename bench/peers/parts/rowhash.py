"""Measures what it costs to prove that a rewrite lost no row: rows are hashed, and new files are read back."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from peers import wide
from peers.beside import program
from peers.parts.optimize import FILES
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import alone

if TYPE_CHECKING:
    from pathlib import Path

    from peers.sessions import Setting

PROGRAM = "org.sparkzorder.write.RowHashBench"
RATIO = 1.11
# Noise between two rewrites is larger than the cost. So each round runs many small pairs.
PAIRS = 16
PART = 20


def run(setting: Setting) -> Part:
    """Rewrite a twentieth of the data in turns, with the proof and without it."""
    part = Part("rowhash", "The proof of all rows")
    steps = Steps(2)
    steps.next("the wide table")
    spark = alone(setting)
    source = wide.make(spark, setting.scale / PART, setting.work, setting.tpchgen)
    spark.stop()
    steps.next("OPTIMIZE with and without the proof of all rows")
    _hash(setting, source, part)
    return part


def _hash(setting: Setting, source: Path, part: Part) -> None:
    keys = ",".join(wide.KEYS)
    pairs = PAIRS * setting.rounds
    found = program(setting.sbt, PROGRAM, source, keys, FILES // PART, pairs, setting.work / "rowhash" / "staging")
    names = ("with", "without")
    clock = Figure("rewrite with the proof of all rows", "s", {n: found[n] for n in names})
    processor = Figure("the same, processor", "s", {n: found[f"{n}, processor"] for n in names})
    alone = Figure("one hash of one row of 42 columns", "ns", {"ours": found["ns a row"]}, compared=False)
    part.figures += [clock, processor, alone]
    part.settings["hash"] = (
        f"the wide table at scale {setting.scale / PART:g}, {FILES // PART} files; by turns in one JVM"
    )
    for figure in (clock, processor):
        ratios = [a / b for a, b in zip(figure.values["with"], figure.values["without"], strict=True)]
        error = statistics.stdev(ratios) / len(ratios) ** 0.5
        what = f"{figure.name}: with / without, all pairs together"
        part.checks.append(Check(what, sum(figure.values["with"]) / sum(figure.values["without"]), RATIO))
        part.where.append(f"{figure.name}: {len(ratios)} pairs, standard error of their mean ratio {error:.3f}")
        part.where.append(f"{figure.name}, pairs: {', '.join(f'{r:.3f}' for r in ratios)}")
