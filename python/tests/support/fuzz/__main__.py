"""`make fuzz`: run new tables until the time is over, or repeat one table or query."""

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

from local_session import local_session

from fuzz.campaign import Campaign

LONG = 1800
"""After so many seconds, chance has little influence on the share of skipped files."""


def main() -> int:
    """Run, and print the figures. Returns 1 when an answer was wrong."""
    parser = argparse.ArgumentParser(prog="make fuzz", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", default="", help="the seed (default: a new one)")
    parser.add_argument("--table", type=int, help="only this table")
    parser.add_argument("--query", type=int, help="run only this query of the table")
    asked = parser.parse_args()
    if asked.query is not None and asked.table is None:
        parser.error("--query needs --table")
    seed = asked.seed or str(random.randrange(10**8))
    with tempfile.TemporaryDirectory(prefix="zorder-fuzz-") as work:
        spark = local_session(Path(work), hive=True)
        campaign = Campaign(spark, Path(work), seed, lambda text: print(text, flush=True))
        if asked.table is not None:
            tally = campaign.table(asked.table, asked.query)
        else:
            until: float = time.monotonic() + asked.seconds
            tally = campaign.run(lambda _: time.monotonic() >= until)
        # The mismatches again, and the figures as the last line.
        print(*tally.mismatches, tally.summary(), sep="\n")
        spark.stop()
    if asked.seconds >= LONG and tally.skipped < 0.45:
        print("fewer than 45 % of the files were skipped: skipping or the generated data got worse")
        return 1
    return 1 if tally.mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
