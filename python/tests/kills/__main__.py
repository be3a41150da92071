"""`make kills`: processes killed at random times, until so many of them had an operation under way."""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from local_session import local_session

from kills.campaign import Campaign, Tally
from kills.process import share_classes

MANY = 20
"""Kills from which on an archive of classes pays."""


def main() -> int:
    """Prints what was killed and found; 1 when anything was wrong."""
    parser = argparse.ArgumentParser(prog="make kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=600, help="stop after these, whatever the number of kills")
    parser.add_argument("--seed", default="", help="a new one when none is given")
    asked = parser.parse_args()
    seed = asked.seed or str(random.randrange(10**8))
    # As in the tests: what runs for seconds only needs no optimizing compiler.
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    most: int = asked.kills
    end: float = time.monotonic() + 60 * asked.minutes

    def enough(tally: Tally) -> bool:
        return tally.kills >= most or time.monotonic() > end

    with tempfile.TemporaryDirectory(prefix="zorder-kills-") as work:
        spark = local_session(Path(work))
        options = share_classes(Path(work)) if most >= MANY else ""
        tally = Campaign(spark, Path(work), seed, lambda text: print(text, flush=True), options).run(enough)
        spark.stop()
    print(tally.summary())
    return 1 if tally.problems else 0


if __name__ == "__main__":
    sys.exit(main())
