"""`make load`: run twelve readers, an appender, counts and a loop of statements on the same tables for some minutes."""

import argparse
import os
import random
import sys
import tempfile
from pathlib import Path

from load.campaign import Campaign
from load.figures import figures, summary


def main() -> int:
    """Run, and print the figures. Returns 1 when anything was wrong."""
    parser = argparse.ArgumentParser(prog="make load", description=__doc__)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", default="", help="the seed (default: a new one)")
    asked = parser.parse_args()
    seed = asked.seed or str(random.randrange(10**8))
    # As in the tests: on two cores, the optimizing compiler costs more than it saves in ten minutes. Without it, the
    # default room for compiled code is small and full after some minutes.
    options = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m"
    os.environ.setdefault("JDK_JAVA_OPTIONS", options)
    with tempfile.TemporaryDirectory(prefix="zorder-load-") as work:
        campaign = Campaign(Path(work), seed, lambda text: print(text, flush=True))
        result = campaign.run(max(20.0, min(60.0, asked.seconds / 6)), asked.seconds)
    for problem in result.problems + result.leaks:
        print(problem)
    print(figures(result))
    print(summary(result))
    return 1 if result.problems or result.leaks else 0


if __name__ == "__main__":
    sys.exit(main())
