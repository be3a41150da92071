"""`make kills`: kill processes at random times, until enough of them had an operation under way."""

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

from local_session import local_session
from s3_server import s3_server

from kills.campaign import Campaign
from kills.rounds import Tally
from kills.s3_campaign import S3Campaign

MANY = 20
"""With at least this number of kills, an archive of classes saves time."""


def main() -> int:
    """Kill, and print the figures. Returns 1 when anything was wrong."""
    parser = argparse.ArgumentParser(prog="make kills", description=__doc__)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--minutes", type=float, default=600, help="stop after this time, whatever the number of kills")
    parser.add_argument("--seed", default="", help="the seed (default: a new one)")
    parser.add_argument("--store", choices=["disk", "s3"], default="disk", help="where the tables are")
    asked = parser.parse_args()
    seed = asked.seed or str(random.randrange(10**8))
    # As in the tests: processes that run for seconds need no optimizing compiler.
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    most: int = asked.kills
    end: float = time.monotonic() + 60 * asked.minutes

    def enough(tally: Tally) -> bool:
        return tally.kills >= most or time.monotonic() > end

    def say(text: str) -> None:
        print(text, flush=True)

    with tempfile.TemporaryDirectory(prefix="zorder-kills-") as work:
        if asked.store == "s3":
            with s3_server() as server:
                tally = S3Campaign(server, Path(work), seed, say).run(enough, share=most >= MANY)
        else:
            spark = local_session(Path(work))
            tally = Campaign(spark, Path(work), seed, say).run(enough, share=most >= MANY)
            spark.stop()
    print(tally.summary())
    return 1 if tally.problems else 0


if __name__ == "__main__":
    sys.exit(main())
