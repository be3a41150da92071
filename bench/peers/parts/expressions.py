"""Measures rows per second of the expressions that compute positions on the curve."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from peers import events
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import settle, start

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import DataFrame, SparkSession

    from peers.sessions import Setting

# Cheap columns that use all bits, without any arithmetic that could overflow.
COLUMNS = (
    "id ^ shiftleft(id, 40) AS a",
    "shiftright(id, 3) ^ shiftleft(id, 29) AS b",
    "id ^ shiftleft(id, 17) AS c",
)
NAMES = ("a", "b", "c")
RANGES = 1000
WARM_UP = 3
# Slow expressions get fewer rows, so that all run for about the same time.
FEWER = 10


def run(setting: Setting) -> Part:
    """Compute each expression for generated rows and drop the results. Spark counts the processor time."""
    log = setting.work / "events"
    spark = start(setting, log)
    frames = {
        "ours, zvalue": _of_sql(spark, "zvalue(a, b, c)"),
        "ours, three range ids": _of_sql(spark, _ours_by_ranges()),
        "ours, ordered_bytes of each": _of_sql(spark, *(f"ordered_bytes({c})" for c in NAMES)),
        "xxhash64": _of_sql(spark, "xxhash64(a, b, c)"),
        "delta, three range ids": lambda rows: _delta(spark, _columns(spark, rows)),
        "iceberg, UDF": lambda rows: _iceberg(spark, _columns(spark, rows)),
        "the columns alone": _of_sql(spark, *NAMES),
    }
    peers = ("delta, three range ids", "iceberg, UDF")
    rows = {name: setting.rows // FEWER if name in peers else setting.rows for name in frames}
    rounds = 2 * setting.rounds - 1
    steps = Steps((rounds + WARM_UP) * len(frames))
    runs: list[tuple[str, float, float, float]] = []
    for r in range(rounds + WARM_UP):
        for name, frame in list(frames.items())[r % 3 :] + list(frames.items())[: r % 3]:
            # The number of rows is part of the generated code. Another number would mean another compilation.
            steps.next(f"{name}, {rows[name]:,} rows, {f'round {r - WARM_UP + 1}' if r >= WARM_UP else 'warms up'}")
            settle(spark)
            made = frame(rows[name])
            execution: Any = made._jdf.queryExecution()
            execution.executedPlan()
            began, clock = time.time(), time.perf_counter()
            execution.toRdd().count()
            if r >= WARM_UP:
                runs.append((name, time.perf_counter() - clock, began, time.time()))
    spark.stop()
    stages = events.stages(log)
    cost: dict[str, list[float]] = {name: [] for name in frames}
    processor: dict[str, list[float]] = {name: [] for name in frames}
    for name, took, began, ended in runs:
        cost[name].append(took * 1e9 / rows[name])
        busy = sum(s.cpu for s in stages if began - 0.01 <= s.began <= ended)
        processor[name].append(busy * 1e9 / rows[name])
    return _part(setting, cost, processor, rows)


def _part(
    setting: Setting, cost: dict[str, list[float]], processor: dict[str, list[float]], rows: dict[str, int]
) -> Part:
    part = Part("expressions", "Expressions over three BIGINT columns")
    part.figures = [
        Figure(
            "rows a second", "million", {n: [1e3 / c for c in costs] for n, costs in cost.items()}, more_is_better=True
        ),
        Figure("processor time per row, with making the row", "ns", processor),
    ]
    part.settings = {
        "rows": ", ".join(f"{n} {count:,}" for n, count in rows.items()),
        "how": f"planned before, then every row computed and dropped; local[{setting.cores}]; {RANGES} ranges a column",
    }
    rate = part.figures[0]
    z, ids, hashed = "ours, zvalue", "ours, three range ids", "xxhash64"
    part.checks = [
        Check(
            "zvalue of three columns over Delta's three range ids", rate.ratio(z, "delta, three range ids"), 10, True
        ),
        Check("the same three range ids, ours over Delta's", rate.ratio(ids, "delta, three range ids"), 10, True),
        Check("zvalue over Iceberg's UDF, rows a second", rate.ratio(z, "iceberg, UDF"), 10, True),
        Check("bytes mapping (zvalue) over xxhash64, cost of a row", part.figures[1].ratio(z, hashed), 3),
        Check(
            "ordered_bytes of each over xxhash64, cost of a row",
            part.figures[1].ratio("ours, ordered_bytes of each", hashed),
            3,
        ),
    ]
    bare = statistics.median(processor["the columns alone"])
    part.where = [
        "processor time per row in ns, without making the rows: "
        + ", ".join(f"{n} {statistics.median(c) - bare:.1f}" for n, c in processor.items() if n != "the columns alone")
    ]
    return part


def _columns(spark: SparkSession, rows: int) -> DataFrame:
    return spark.range(0, rows, 1, spark.sparkContext.defaultParallelism).selectExpr(*COLUMNS)


def _of_sql(spark: SparkSession, *expressions: str) -> Callable[[int], DataFrame]:
    return lambda rows: _columns(spark, rows).selectExpr(*expressions)


def _ours_by_ranges() -> str:
    """Any ascending bounds do, because their values do not change the cost."""
    bounds = ", ".join(f"{-(2**62) + i * (2**63 // RANGES)}L" for i in range(RANGES - 1))
    return f"interleave_bits({', '.join(f'ordered_bytes(range_id({c}, array({bounds})))' for c in NAMES)})"


def _delta(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """The key that OPTIMIZE sorts by. Its sample is drawn when the query is planned."""
    from pyspark.sql import DataFrame as Frame

    jvm: Any = spark._jvm
    functions = jvm.org.apache.spark.sql.delta.skipping.MultiDimClusteringFunctions
    ids = [functions.range_partition_id(frame[c]._jc, RANGES) for c in NAMES]
    z = functions.interleave_bits(jvm.PythonUtils.toSeq(ids))
    return Frame(frame._jdf.select(_array(spark, "org.apache.spark.sql.Column", [z])), spark)


def _iceberg(spark: SparkSession, frame: DataFrame) -> DataFrame:
    """The key that rewrite_data_files sorts by. Its class is not public."""
    from pyspark.sql import DataFrame as Frame
    from pyspark.sql import functions as f

    jvm: Any = spark._jvm
    loader = jvm.Thread.currentThread().getContextClassLoader()
    [made] = loader.loadClass("org.apache.iceberg.spark.actions.SparkZOrderUDF").getDeclaredConstructors()
    made.setAccessible(True)
    udf = made.newInstance(_array(spark, "java.lang.Object", [len(NAMES), 8, 2**31 - 1]))
    methods = {m.getName(): m for m in udf.getClass().getDeclaredMethods()}
    ordered, interleave = methods["sortedLexicographically"], methods["interleaveBytes"]
    ordered.setAccessible(True)
    interleave.setAccessible(True)
    long = jvm.org.apache.spark.sql.types.DataTypes.LongType
    of = [ordered.invoke(udf, _array(spark, "java.lang.Object", [frame[c]._jc, long])) for c in NAMES]
    from pyspark.sql.classic.column import Column

    z = interleave.invoke(udf, _array(spark, "java.lang.Object", [f.array(*map(Column, of))._jc]))
    return Frame(frame._jdf.select(_array(spark, "org.apache.spark.sql.Column", [z])), spark)


def _array(spark: SparkSession, kind: str, values: list[Any]) -> Any:
    gateway: Any = spark.sparkContext._gateway
    of = gateway.jvm
    for name in kind.split("."):
        of = getattr(of, name)
    array = gateway.new_array(of, len(values))
    for i, value in enumerate(values):
        array[i] = value
    return array
