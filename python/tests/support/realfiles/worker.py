"""One process of the run, with a session for all of its files."""

import os
import tempfile
from pathlib import Path

from local_session import SMALL, local_session
from pyspark.sql import SparkSession

from realfiles.trial import Outcome, Trial, tidy

_process: dict[str, object] = {}


def start(work: str) -> None:
    """Start the session of this process."""
    # Most code runs a few times only: the optimizing compiler costs more than it brings.
    os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
    folder = Path(tempfile.mkdtemp(dir=work))
    _process["work"] = folder
    _process["spark"] = local_session(folder, settings={**SMALL, "spark.driver.memory": "1500m"})
    _process["spark"].sparkContext.setLogLevel("OFF")  # type: ignore[attr-defined]


def attempt(job: tuple[str, str]) -> Outcome:
    """Try one file. An error of the trial itself is an outcome, too: one file must not end the run."""
    root, name = job
    work = Path(str(_process["work"])) / "trial"
    spark: SparkSession = _process["spark"]  # type: ignore[assignment]
    with tidy(work):
        trial = Trial(spark, Path(root) / name, name, work)
        try:
            return trial.run()
        except Exception as error:
            trial.outcome.failed.append(f"{type(error).__name__}: {error}"[:600])
            return trial.outcome
