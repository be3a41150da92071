"""Random queries on random tables: skipping on, skipping off and another engine give the same rows. See `fuzz`.

`QUERIES=2000` sets the number of queries, instead of the time `FUZZ_SECONDS`. `SEED=n` sets the seed. Without them,
it ends after a number of tables, so that a fast machine and a slow one try the same.
"""

import os
import time
from pathlib import Path

import pytest
from fuzz.campaign import Campaign, Tally
from pyspark.sql import SparkSession

SEED = os.environ.get("SEED", "20261121")
QUERIES = int(os.environ.get("QUERIES", "0"))
SECONDS = float(os.environ.get("FUZZ_SECONDS", "0"))


@pytest.mark.parametrize(
    "tables",
    [
        1,
        pytest.param(5, marks=[pytest.mark.test_rest, pytest.mark.older_sparks]),
        pytest.param(12, marks=pytest.mark.test_all),
    ],
    ids=["one", "few", "many"],
)
def test_skipping_never_changes_an_answer(
    spark_session: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], tables: int
) -> None:
    began = time.monotonic()

    def enough(tally: Tally) -> bool:
        if QUERIES:
            return tally.queries >= QUERIES
        return time.monotonic() - began >= SECONDS if SECONDS else tally.tables >= tables

    # The one table of a short run is optimized, has files to skip, and is read by DuckDB, too.
    seed, short = ("47", True) if tables == 1 and "SEED" not in os.environ else (SEED, False)
    tally = Campaign(spark_session, tmp_path, seed, print, short).run(enough)
    with capsys.disabled():
        print(f"\n{tally.summary()}")
    assert not tally.mismatches, "\n".join(tally.mismatches[:20])
    assert tally.skipped >= 1 / 3, tally.summary()
    assert tally.by_duck > tally.queries / 10, tally.summary()
