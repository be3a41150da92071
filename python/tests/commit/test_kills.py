"""No row is lost or doubled, and no table is stuck, when processes are killed at random. See `kills`."""

import os
from pathlib import Path
from typing import Any

import pytest
from kills.campaign import Campaign
from kills.rounds import Tally
from kills.s3_campaign import S3Campaign
from pyspark.sql import SparkSession
from s3_server import s3_server

pytestmark = pytest.mark.test_all


def on_disk(spark: SparkSession, work: Path, kills: int) -> Tally:
    return Campaign(spark, work, os.environ.get("SEED", "20261121"), print).run(lambda tally: tally.kills >= kills)


def on_s3(_: SparkSession, work: Path, kills: int) -> Tally:
    with s3_server() as server:
        campaign = S3Campaign(server, work, os.environ.get("SEED", "20261124"), print)
        return campaign.run(lambda tally: tally.kills >= kills)


@pytest.mark.parametrize(("on", "kills"), [(on_disk, 3), (on_disk, int(os.environ.get("KILLS", "40"))), (on_s3, 8)])
def test_kills_lose_and_double_no_row(spark: SparkSession, tmp_path: Path, capsys: Any, on: Any, kills: int) -> None:
    tally = on(spark, tmp_path, kills)
    with capsys.disabled():
        print(f"\n{tally.summary()}")
    assert tally.problems == []
    assert (tally.lost, tally.doubled, tally.stuck) == (0, 0, 0)
    assert tally.checks > 0
