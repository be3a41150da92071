"""`OPTIMIZE .. ZORDER BY` and file skipping for plain Parquet and ORC tables in Spark.

Importing this package starts no JVM, and does not import pyspark either.
"""

from importlib.metadata import version

from spark_zorder.artifacts import jar_path
from spark_zorder.clustering import Clustering
from spark_zorder.dataframe import repartition_by_hilbert_range, repartition_by_zorder_range
from spark_zorder.errors import NoExtensionError, NoJarError
from spark_zorder.session import EXTENSION, configure_spark
from spark_zorder.table import ZOrderTable, explain_skipping

__version__ = version("spark_zorder")

__all__ = [
    "EXTENSION",
    "Clustering",
    "NoExtensionError",
    "NoJarError",
    "ZOrderTable",
    "__version__",
    "configure_spark",
    "explain_skipping",
    "jar_path",
    "repartition_by_hilbert_range",
    "repartition_by_zorder_range",
]
