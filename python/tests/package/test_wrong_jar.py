"""A session that starts with the jar for another Spark."""

import sys
from pathlib import Path

import pyspark
import pytest
from processes import ran
from spark_versions import PYSPARK_MINOR, SPARKS

from spark_zorder import jar_path

pytestmark = [pytest.mark.test_all, pytest.mark.older_sparks]

OTHERS = [spark.minor for spark in SPARKS if spark.minor != PYSPARK_MINOR]

START = """
import sys
from pyspark.sql import SparkSession

builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
builder = builder.config("spark.jars", sys.argv[1])
builder.config("spark.sql.extensions", "org.sparkzorder.ZOrderSparkExtension").getOrCreate()
"""


@pytest.mark.parametrize("other", [OTHERS[0], OTHERS[-1]])
def test_the_session_does_not_start_and_says_which_jar_to_use(tmp_path: Path, other: str) -> None:
    done = ran([sys.executable, "-c", START, jar_path(other)], tmp_path)
    assert done.returncode != 0
    words = f"This jar of spark-zorder is for Spark {other}, and this is Spark {pyspark.__version__}."
    assert f"[ZORDER_WRONG_JAR] {words}" in done.stderr
