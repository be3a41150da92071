"""Wall clocks of ORC files that a time zone skips, or has twice."""

from datetime import datetime
from pathlib import Path

import pyarrow as pa
import pytest
from comparison import condition_of
from golden import snapshot
from programs import answers_of
from pyarrow import orc
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from spark_zorder import jar_path


@pytest.mark.test_rest
@pytest.mark.parametrize(
    ("clock", "refused"), [("02:30", True), pytest.param("03:30", False, marks=pytest.mark.test_all)]
)
def test_a_skipped_clock_is_refused(tmp_path: Path, clock: str, refused: bool) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    times = [datetime.fromisoformat(f"2020-03-29 {clock}"), datetime(2020, 10, 25, 2, 30), None]
    for n in range(2):
        orc.write_table(pa.table({"k": [1, 2, 3], "t": times}), str(folder / f"{n}.orc"))
    before = snapshot(folder)
    answers = answers_of("berlin.py", str(jar_path()), "optimize", str(folder), folder=tmp_path)
    if refused:
        error = answers["optimize"]["error"]
        assert "[ZORDER_UNSAFE_FILES.AMBIGUOUS_CLOCK]" in error
        assert "`t`" in error
        assert "Europe/Berlin" in error
        assert snapshot(folder) == before
    else:
        assert answers["optimize"][0]["metrics"]["numFilesAdded"] == 1
        [file] = folder.glob("*.orc")
        assert sorted(map(str, orc.read_table(str(file))["t"].to_pylist())) == sorted(map(str, times * 2))


@pytest.mark.test_all
def test_a_clock_that_the_writers_zone_has_twice_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    answers_of("berlin.py", str(jar_path()), "write", str(folder), folder=tmp_path)
    before = snapshot(folder)
    with pytest.raises(AnalysisException) as refused:
        spark.sql(f"OPTIMIZE orc.`{folder}` ZORDER BY (k)").collect()
    assert condition_of(refused.value) == "ZORDER_UNSAFE_FILES.AMBIGUOUS_CLOCK"
    assert "Europe/Berlin" in str(refused.value)
    assert snapshot(folder) == before
