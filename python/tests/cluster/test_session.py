"""`configure_spark` on a builder, before a JVM is there."""

import subprocess
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_zorder import EXTENSION, configure_spark, jar_path

pytestmark = pytest.mark.older_sparks


def options(builder: SparkSession.Builder) -> dict[str, str]:
    return {key: str(value) for key, value in builder._options.items()}


EMPTY: dict[str, object] = {"spark.jars": "", "spark.sql.extensions": " , "}


@pytest.mark.parametrize(
    ("before", "jars", "extensions"),
    [
        ({}, "", ""),
        ({"spark.jars": "/a.jar, /b.jar", "spark.sql.extensions": "org.A,org.B"}, "/a.jar,/b.jar,", "org.A,org.B,"),
        (EMPTY, "", ""),
        ({"spark.sql.extensions": f"{EXTENSION},org.A"}, "", "org.A,"),
        ({"spark.jars": ["/a.jar", "/b.jar"]}, "/a.jar,/b.jar,", ""),
    ],
    ids=["nothing", "others", "empty", "added since", "a list"],
)
def test_what_was_set_is_kept_and_ours_goes_last(before: dict[str, object], jars: str, extensions: str) -> None:
    builder = SparkSession.builder.master("local[1]")
    builder._options.update(before)
    assert configure_spark(builder) is builder
    expected = {"spark.jars": f"{jars}{jar_path()}", "spark.sql.extensions": extensions + EXTENSION}
    for _ in range(2):
        assert options(builder) == expected | {"spark.master": "local[1]"}
        # Twice is the same as once.
        configure_spark(builder)


def test_what_the_defaults_say_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spark-defaults.conf").write_text(
        "# of the cluster\n\nspark.jars   /c.jar,/d.jar\nspark.sql.extensions=org.C\nspark.master local[7]\n"
    )
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    found = options(configure_spark(SparkSession.builder))
    assert found == {"spark.jars": f"/c.jar,/d.jar,{jar_path()}", "spark.sql.extensions": f"org.C,{EXTENSION}"}
    builder = configure_spark(SparkSession.builder.config("spark.sql.extensions", "org.A"))
    assert options(builder)["spark.sql.extensions"] == f"org.A,{EXTENSION}"


def test_a_server_elsewhere_has_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = SparkSession.builder
    builder._options["spark.remote"] = "sc://elsewhere"
    assert options(configure_spark(builder)) == {"spark.remote": "sc://elsewhere"}
    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
    assert options(configure_spark(SparkSession.builder)) == {}


@pytest.mark.test_rest
def test_a_session_that_runs_without_the_extension_is_named() -> None:
    program = """
import warnings
from pyspark.sql import SparkSession
from spark_zorder import configure_spark
spark = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    configure_spark(SparkSession.builder)
print([str(w.message)[:44] for w in caught if "spark-zorder" in str(w.message)])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "['A session without spark-zorder is running al']"
