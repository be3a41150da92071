"""No row is lost or doubled on S3 when processes are killed at random requests. See `kills.s3_campaign`."""

import os
from pathlib import Path

import pytest
from kills.s3_campaign import S3Campaign
from s3_server import s3_server

pytestmark = pytest.mark.test_all

SEED = os.environ.get("SEED", "20261124")
KILLS = int(os.environ.get("S3_KILLS", "8"))


def test_kills_at_random_requests_lose_and_double_no_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with s3_server() as server:
        tally = S3Campaign(server, tmp_path, SEED, print).run(lambda tally: tally.kills >= KILLS)
    with capsys.disabled():
        print(f"\n{tally.summary()}")
    assert tally.problems == []
    assert (tally.lost, tally.doubled, tally.stuck) == (0, 0, 0)
    assert tally.checks > 0
