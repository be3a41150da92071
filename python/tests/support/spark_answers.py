"""Asks Spark the questions of `reader_answers.py`, by both of its readers, without the extension."""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reader_questions import AGGREGATES, Question, load

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

V1, V2, PUSHED = "Spark, V1", "Spark, V2", "Spark, V2 with aggregatePushdown"
BRANCHES = 50
"""The predicates of one query. Each is a scan of its own, with its own filters."""

_V2 = {"spark.sql.sources.useV1SourceList": ""}
READERS: dict[str, dict[str, str]] = {
    V1: {},
    V2: _V2,
    PUSHED: _V2 | {"spark.sql.parquet.aggregatePushdown": "true", "spark.sql.orc.aggregatePushdown": "true"},
}


def answers(spark: SparkSession, folder: Path, questions: list[Question]) -> list[Any]:
    """The answers to questions about a folder."""
    form = "orc" if list(folder.glob("*.orc")) else "parquet"
    spark.read.format(form).load(str(folder)).createOrReplaceTempView("t")
    found: list[Any] = [_aggregates(spark, q.column) if q.ask == AGGREGATES else None for q in questions]
    numbers = [i for i, q in enumerate(questions) if q.ask != AGGREGATES]
    for start in range(0, len(numbers), BRANCHES):
        part = numbers[start : start + BRANCHES]
        try:
            counts = _counts(spark, questions, part)
        except Exception:
            counts = {i: _alone(spark, questions, i) for i in part}
        for i in part:
            found[i] = counts[i]
    return found


def _counts(spark: SparkSession, questions: list[Question], numbers: list[int]) -> dict[int, Any]:
    """The rows of each question. They are counted here, since Spark would need a shuffle for each."""
    branches = [f"SELECT {i} AS question FROM t WHERE {questions[i].sql('spark')}" for i in numbers]
    counted = Counter(row.question for row in spark.sql(" UNION ALL ".join(branches)).collect())
    return {i: counted[i] for i in numbers}


def _alone(spark: SparkSession, questions: list[Question], number: int) -> Any:
    try:
        return _counts(spark, questions, [number])[number]
    except Exception as e:
        return f"error: {str(e).strip().splitlines()[0][:200]}"


def _aggregates(spark: SparkSession, column: str) -> str:
    try:
        row = spark.sql(f"SELECT min({column}), max({column}), count({column}) FROM t").collect()[0]
    except Exception as e:
        return f"error: {str(e).strip().splitlines()[0][:200]}"
    return ", ".join(str(v + 0.0 if isinstance(v, float) else v) for v in row)


def main(questions: list[Question], folders: list[Path]) -> None:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    for key, value in SETTINGS.items():
        builder = builder.config(key, value)
    first = builder.getOrCreate()
    first.sparkContext.setLogLevel("OFF")
    for name, settings in READERS.items():
        spark = first.newSession()
        for key, value in settings.items():
            spark.conf.set(key, value)
        for folder in folders:
            print(json.dumps([name, folder.name, answers(spark, folder, questions)]), flush=True)


SETTINGS = {
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.memory": "1g",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.files.openCostInBytes": "0",
}

if __name__ == "__main__":
    main(load(Path(sys.argv[1])), [Path(f) for f in sys.argv[2].split(",")])
