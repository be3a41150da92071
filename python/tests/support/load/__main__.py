"""`make load`: run twelve readers, an appender, counts and a loop of statements on the same tables for some minutes."""

import argparse
import datetime
import os
import random
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

from load.campaign import Campaign
from load.page import page, summary

RESULTS = Path(__file__).parents[4] / "bench" / "results"


def main() -> int:
    """Run, print the figures and write their page. Returns 1 when anything was wrong."""
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", default="", help="the seed (default: a new one)")
    parser.add_argument("--out", type=Path, help="bench/results/load-<date>.md by default")
    asked = parser.parse_args()
    seed = asked.seed or str(random.randrange(10**8))
    today = datetime.date.today().isoformat()
    # As in the tests: on two cores, the optimizing compiler costs more than it saves in ten minutes. Without it, the
    # default room for compiled code is small and full after some minutes.
    options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
    os.environ.setdefault("JDK_JAVA_OPTIONS", options)
    with tempfile.TemporaryDirectory(prefix="zorder-load-") as work:
        campaign = Campaign(Path(work), seed, lambda text: print(text, flush=True))
        result = campaign.run(max(20.0, min(60.0, asked.seconds / 6)), asked.seconds)
    text = page(result, today, version("pyspark"))
    out = asked.out or RESULTS / f"load-{today}.md"
    out.write_text(text)
    for problem in result.problems + result.leaks:
        print(problem)
    print(text)
    print(summary(result))
    return 1 if result.problems or result.leaks else 0


if __name__ == "__main__":
    sys.exit(main())
