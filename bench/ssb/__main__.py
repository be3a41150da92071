"""Runs the Star Schema Benchmark and writes bench/results/ssb-<date>.md, .json and .svg: `make ssb`.

make ssb
make ssb SCALE=0.02 FILES=20 ROUNDS=1
"""

from __future__ import annotations

import argparse
import datetime
import json
import sys
from pathlib import Path

from peers.machine import machine
from peers.progress import Steps, watched
from peers.results import Part
from peers.sessions import ROOT, Place

from ssb import measure
from ssb.page import page
from ssb.picture import draw


def arguments() -> argparse.ArgumentParser:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="make ssb", description="Compare a star with its flattened table.")
    parser.add_argument("--scale", type=float, default=1, help="six million lines for each 1")
    parser.add_argument("--files", type=int, default=200, help="how many files of the large tables to ask for")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layout", choices=("joins", "own"), default="joins", help="own: no JOIN for our star")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--heap", default="6g")
    parser.add_argument("--jar", type=Path, required=True, help="our jar for the Spark that runs this")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "bench" / "ssb")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    return parser


def main() -> None:
    """Measure in a process of its own, so that only progress is printed, and Spark's messages go to a log."""
    given = arguments().parse_args()
    work, jar = given.work.resolve(), given.jar.resolve()
    work.mkdir(parents=True, exist_ok=True)
    found = work / "ssb.json"
    if given.child:
        place = Place(work, jar, given.cores, given.heap)
        steps = Steps(measure.steps(given.rounds))
        part = measure.run(place, given.scale, given.files, given.rounds, given.layout == "joins", steps)
        found.write_text(json.dumps(part.to_json()) + "\n")
        return
    with (work / "log").open("w") as log:
        if watched([sys.executable, "-m", "ssb", *sys.argv[1:], "--child"], "ssb", log) != 0:
            sys.exit(f"failed, see {work / 'log'}")
    print(write(Part.of_json(json.loads(found.read_text())), jar, given.results))


def write(part: Part, jar: Path, results: Path) -> Path:
    """Write page, data and picture. Returns the page."""
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    results.mkdir(parents=True, exist_ok=True)
    stem = results / f"ssb-{date}"
    measured_on = machine(jar, "delta")
    data = {"date": date, "machine": measured_on, "parts": [part.to_json()]}
    stem.with_suffix(".json").write_text(json.dumps(data, indent=1) + "\n")
    draw(part, stem.with_suffix(".svg"))
    stem.with_suffix(".md").write_text(page(date, measured_on, part, f"{stem.name}.svg"))
    return stem.with_suffix(".md")


if __name__ == "__main__":
    main()
