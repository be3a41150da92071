"""Prunes a million files by a conjunction of three columns, without making the files."""

from __future__ import annotations

import shutil
import statistics
from typing import TYPE_CHECKING

from peers.beside import program
from peers.progress import Steps
from peers.results import Check, Figure, Part

if TYPE_CHECKING:
    from peers.sessions import Setting

MAIN = "org.sparkzorder.skipping.PruningBench"
ROUNDS = 20


def run(setting: Setting) -> Part:
    """Run a program of bench/jvm, which uses the engine's internal classes."""
    steps = Steps(1)
    steps.next(f"an index of {setting.index_files:,} files")
    folder = setting.work / "pruning"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    found = program(setting.sbt, MAIN, setting.index_files, folder, ROUNDS)
    return _part(found)


def _part(found: dict[str, list[float]]) -> Part:
    files = int(found["files"][0])

    def less(what: str, listing: str) -> list[float]:
        """Spark lists its files with or without the extension."""
        return [a - b for a, b in zip(found[what], found[listing], strict=True)]

    warm, cold = less("warm_ms", "listing_ms"), less("cold_ms", "cold_listing_ms")
    times = {
        "warm": warm,
        "warm, processor": less("warm_processor_ms", "listing_processor_ms"),
        "index cold on disk": cold,
        "first query of a listing, with the listing": found["first_ms"],
        "Spark's own listing, to be added to each of these": found["listing_ms"],
        "Spark's own listing, processor time": found["listing_processor_ms"],
        "the list of the scan, with Spark's": found["scan_ms"],
    }
    sizes = {
        "on disk": found["disk_bytes"],
        "in memory": found["memory_bytes"],
        "in memory, by the JVM": found["memory_bytes_measured"],
    }
    part = Part("pruning", f"Pruning of {files:,} files by a conjunction of three columns")
    part.figures = [
        Figure(f"pruning of {files:,} files", "ms", times, compared=False),
        Figure("index, per file and BIGINT column", "bytes", sizes, compared=False),
        Figure(
            "index, per file for its name, length, time and rows",
            "bytes",
            {"on disk": found["disk_bytes_files"], "in memory": found["memory_bytes_files"]},
            compared=False,
        ),
    ]
    part.settings = {
        "query": "a = v AND b >= v AND b < w AND c IN (v, x); cells of a grid, "
        f"{found['kept'][0]:.0f} of {files:,} files kept",
        "warm": f"{ROUNDS} runs after {ROUNDS} to warm up, from filters to reports; one thread",
        "cold": "the index is not in the page cache (dd oflag=nocache), and the listing is new; in a new JVM "
        f"{cold[0]:,.0f} ms",
    }
    part.checks = [
        Check("pruning, warm, besides Spark's own listing, ms", statistics.median(warm), 100),
        Check("pruning, index cold on disk, besides Spark's own listing, ms", statistics.median(cold), 3000),
        Check("index on disk, bytes per file and numeric column", found["disk_bytes"][0], 24),
        Check("index in memory, bytes per file and numeric column", found["memory_bytes_measured"][0], 32),
    ]
    return part
