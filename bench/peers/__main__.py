"""Runs all parts, or the named ones, and writes bench/results/bench-<date>.md and .json: `make bench`.

    make bench
    make bench ONLY=expressions,pruning
    make bench SCALE=5 ONLY=optimize

Parts that run later on the same day are added to the page of that day.
"""

from __future__ import annotations

import argparse
import datetime
import importlib
import json
import sys
from pathlib import Path

from peers import page, pictures
from peers.machine import machine
from peers.progress import watched
from peers.results import Check, Part
from peers.sessions import Setting

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "optimize",
    "small",
    "kinds",
    "queries",
    "thousand",
    "profile",
    "rowpath",
    "expressions",
    "pruning",
    "creation",
    "planning",
    "growth",
    "safety",
    "rowhash",
    "freshlook",
    "memory",
    "answers",
    "scale",
)


def arguments() -> argparse.ArgumentParser:
    """Read the command line."""
    parser = argparse.ArgumentParser(prog="make bench", description="Compare spark-zorder with its peers.")
    parser.add_argument("--only", default="", help=f"the parts to run, with commas between: {', '.join(PARTS)}")
    parser.add_argument("--scale", type=float, default=1, help="the scale of TPC-H; `growth` goes up to five times it")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--queries", type=int, default=15, help="of each kind")
    parser.add_argument("--beside", default="delta,iceberg,spark", help="the engines that the part `optimize` compares")
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--heap", default="6g")
    parser.add_argument("--small-files", type=int, default=20_000, help="the number of small files to index")
    parser.add_argument("--index-files", type=int, default=1_000_000, help="to prune")
    parser.add_argument("--rows", type=int, default=20_000_000, help="the rows for expressions; the peers get a tenth")
    parser.add_argument("--jar", type=Path, required=True, help="our jar for the Spark that runs this")
    parser.add_argument("--sbt", required=True, help="the command that starts sbt, for the part `pruning`")
    parser.add_argument("--tpchgen", type=Path, default=Path(sys.executable).with_name("tpchgen-cli"))
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "bench")
    parser.add_argument("--results", type=Path, default=ROOT / "bench" / "results")
    parser.add_argument("--part", help=argparse.SUPPRESS)
    return parser


def main() -> None:
    """Run each part in a process of its own, so that parts share no heap, caches or compiled code."""
    given = arguments().parse_args()
    given.work = given.work.resolve()
    given.jar = given.jar.resolve()
    given.work.mkdir(parents=True, exist_ok=True)
    if given.part:
        one(given.part, given)
        return
    asked = [name for name in PARTS if not given.only or name in given.only.split(",")]
    if not asked:
        sys.exit(f"--only takes {', '.join(PARTS)}")
    failed = []
    with (given.work / "log").open("w") as log:
        for done, name in enumerate(asked, 1):
            (given.work / f"{name}.json").unlink(missing_ok=True)
            # The part `growth` runs in a small heap. Its tables need a larger one, so they are made before.
            for part in (["tables"] if name == "growth" else []) + [name]:
                if watched([sys.executable, "-m", "peers", *sys.argv[1:], "--part", part], part, log) != 0:
                    failed.append(part)
                    break
            # Save after each part, so that a later failure loses nothing.
            checks = write(given, asked[:done])
    for check in checks:
        print(f"{'met    ' if check.met else 'NOT MET'} {check.what}: {page.number(check.value)}")
    print(given.results)
    if failed:
        sys.exit(f"{', '.join(failed)} failed, see {given.work / 'log'}")


def one(name: str, given: argparse.Namespace) -> None:
    """Run one part in this process."""
    setting = Setting.of(given)
    if name == "tables":
        importlib.import_module("peers.parts.growth").tables(setting)
        return
    part: Part = importlib.import_module(f"peers.parts.{name}").run(setting)
    (given.work / f"{name}.json").write_text(json.dumps(part.to_json()) + "\n")


def write(given: argparse.Namespace, ran: list[str]) -> list[Check]:
    """Write page, data and pictures, together with the earlier parts of the day. Returns the checks."""
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    given.results.mkdir(parents=True, exist_ok=True)
    stem = given.results / f"bench-{date}"
    data = Path(f"{stem}.json")
    known = {p["name"]: p for p in json.loads(data.read_text())["parts"]} if data.exists() else {}
    for name in ran:
        source = given.work / f"{name}.json"
        if source.exists():
            known[name] = json.loads(source.read_text())
    parts = [Part.of_json(known[name]) for name in PARTS if name in known]
    measured_on = machine(given.jar, "delta", "iceberg")
    data.write_text(json.dumps({"date": date, "machine": measured_on, "parts": list(known.values())}, indent=1) + "\n")
    drawn = pictures.draw(parts, stem)
    Path(f"{stem}.md").write_text(page.page(date, measured_on, parts, drawn))
    return [check for part in parts for check in part.checks]


if __name__ == "__main__":
    main()
