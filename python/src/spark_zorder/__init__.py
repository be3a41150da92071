"""`OPTIMIZE .. ZORDER BY` and file skipping for plain Parquet and ORC tables in Spark.

Importing this package starts no JVM and does not import pyspark.

Examples:
    The examples of all functions and methods use this table. It has a row for each pair of 64 users and 64 days, in
    eight files. Each example starts with a new copy of the table.

    >>> from pyspark.sql import SparkSession
    >>> from spark_zorder import ZOrderTable, configure_spark
    >>> spark = configure_spark(SparkSession.builder).getOrCreate()
    >>> rows = spark.range(4096).selectExpr("id", "id DIV 64 AS user", "id % 64 AS day")
    >>> rows.repartition(8, "id").write.saveAsTable("events")
    >>> events = ZOrderTable(spark, "events")
"""

from importlib.metadata import version

from spark_zorder.artifacts import jar_path
from spark_zorder.clustering import Clustering, ColumnDepth, FileRange
from spark_zorder.dataframe import repartition_by_hilbert_range, repartition_by_zorder_range
from spark_zorder.diagnosis import Diagnosis, Finding, doctor
from spark_zorder.errors import NoExtensionError, NoJarError
from spark_zorder.explain import ConditionSkipping, ScanSkipping, SkippingExplanation, explain_skipping
from spark_zorder.options import OPTIMIZE_OPTIONS, OptimizeOption
from spark_zorder.result import OptimizeResult, RestoreResult, VacuumResult
from spark_zorder.session import EXTENSION, configure_spark
from spark_zorder.shows import show_clustering, show_operations
from spark_zorder.table import ZOrderTable
from spark_zorder.targets import PlainCheck

__version__ = version("spark_zorder")

__all__ = [
    "EXTENSION",
    "OPTIMIZE_OPTIONS",
    "Clustering",
    "ColumnDepth",
    "ConditionSkipping",
    "Diagnosis",
    "FileRange",
    "Finding",
    "NoExtensionError",
    "NoJarError",
    "OptimizeOption",
    "OptimizeResult",
    "PlainCheck",
    "RestoreResult",
    "ScanSkipping",
    "SkippingExplanation",
    "VacuumResult",
    "ZOrderTable",
    "__version__",
    "configure_spark",
    "doctor",
    "explain_skipping",
    "jar_path",
    "repartition_by_hilbert_range",
    "repartition_by_zorder_range",
    "show_clustering",
    "show_operations",
]
