"""Compares what Spark answers with skipping on and with it off, and reads physical plans."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from spark_zorder import errors, explain_skipping

ERRORS = (PySparkException, Py4JJavaError)
"""What a statement may raise. PySpark leaves a `SparkException` to Py4J."""


@contextmanager
def settings(spark: SparkSession, **values: object) -> Iterator[None]:
    """Set settings of the session for a while. Underscores in the names stand for dots."""
    named = {name.replace("_", "."): str(value) for name, value in values.items()}
    before = {name: spark.conf.get(name, None) for name in named}
    for name, value in named.items():
        spark.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, old)


@contextmanager
def no_skipping(spark: SparkSession) -> Iterator[None]:
    with settings(spark, spark_zorder_skipping_enabled="false"):
        yield


def same_rows(spark: SparkSession, query: str) -> list[Row]:
    """Check that skipping does not change the rows of a query, and return them sorted."""
    with no_skipping(spark):
        expected = sorted(spark.sql(query).collect(), key=repr)
    assert sorted(spark.sql(query).collect(), key=repr) == expected, query
    return expected


def condition_of(error: PySparkException | Py4JJavaError) -> str:
    """The condition of an error, or its class if it has no condition."""
    if isinstance(error, PySparkException):
        return str(errors.condition_of(error))
    # Some messages of Spark begin with the condition in brackets.
    found = re.match(r"\[([A-Z_0-9.]+)\]", str(error.java_exception.getMessage()))
    return found[1] if found else str(error.java_exception.getClass().getName())


def refused(spark: SparkSession, sql: str) -> tuple[str, str]:
    """The condition and the message of a statement's error. Both are empty if there is none."""
    try:
        spark.sql(sql).collect()
    except ERRORS as error:
        return condition_of(error), str(error)
    return "", ""


def outcome(frame: DataFrame) -> list[str] | str:
    """The rows of a query as sorted text, or the condition of its error."""
    try:
        return sorted(map(repr, frame.collect()))
    except ERRORS as error:
        return condition_of(error)


def files_read(spark: SparkSession, query: str) -> tuple[int, int]:
    """The number of files kept, and of all files, over all scans of a query."""
    scans = explain_skipping(spark, query).df.collect()
    return sum(scan["files_kept"] for scan in scans), sum(scan["files_total"] for scan in scans)


def skips(spark: SparkSession, query: str) -> bool:
    """Whether a query leaves out files."""
    kept, total = files_read(spark, query)
    return kept < total


def items(sequence: Any) -> list[Any]:
    """The elements of a Seq of Scala."""
    return [sequence.apply(i) for i in range(sequence.size())]


def executions(spark: SparkSession) -> list[Any]:
    """What the SQL tab knows of queries, oldest first."""
    spark._jsc.sc().listenerBus().waitUntilEmpty()
    return items(spark._jsparkSession.sharedState().statusStore().executionsList())


def metrics_of(spark: SparkSession, execution: Any) -> dict[str, dict[str, str]]:
    """The nodes of a query in the SQL tab, with their metrics."""
    store, number = spark._jsparkSession.sharedState().statusStore(), execution.executionId()
    values = store.executionMetrics(number)
    return {
        node.name(): {
            metric.name(): values.apply(metric.accumulatorId())
            for metric in items(node.metrics())
            if values.contains(metric.accumulatorId())
        }
        for node in items(store.planGraph(number).allNodes())
    }


def nodes(frame: DataFrame) -> list[Any]:
    """The nodes of the physical plan from the top, including those in adaptive stages. The plan need not have run."""

    def below(plan: Any) -> Iterator[Any]:
        yield plan
        name = plan.getClass().getSimpleName()
        if name == "AdaptiveSparkPlanExec":
            inner = [plan.executedPlan()]
        elif name.endswith("QueryStageExec"):
            inner = [plan.plan()]
        else:
            inner = items(plan.children())
        for child in inner:
            yield from below(child)

    return list(below(frame._jdf.queryExecution().executedPlan()))


def node_names(frame: DataFrame) -> list[str]:
    """The classes of these nodes."""
    return [node.getClass().getSimpleName() for node in nodes(frame)]


def scans(frame: DataFrame) -> list[Any]:
    return [n for n in nodes(frame) if n.getClass().getSimpleName() in ("FileSourceScanExec", "SkippingScanExec")]
