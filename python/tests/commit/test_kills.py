"""No row is lost or doubled, and no table is stuck, when processes are killed at random times. See `kills`."""

import os
from pathlib import Path

import pytest
from kills.campaign import Campaign
from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

SEED = os.environ.get("SEED", "20261121")


@pytest.mark.parametrize(
    "kills", [3, pytest.param(int(os.environ.get("KILLS", "40")), marks=pytest.mark.test_all)], ids=["few", "many"]
)
def test_kills_at_random_times_lose_and_double_no_row(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str], kills: int
) -> None:
    tally = Campaign(spark, tmp_path, SEED, print).run(lambda tally: tally.kills >= kills)
    with capsys.disabled():
        print(f"\n{tally.summary()}")
    assert tally.problems == []
    assert (tally.lost, tally.doubled, tally.stuck) == (0, 0, 0)
    assert tally.checks > 0
