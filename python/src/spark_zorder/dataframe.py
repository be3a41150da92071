"""Puts the rows of any DataFrame in partitions along a space-filling curve, for any sink."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from spark_zorder.artifacts import installed_spark
from spark_zorder.statements import has_extension, no_extension

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    Frame = TypeVar("Frame", bound=DataFrame)


def repartition_by_zorder_range(df: Frame, n: int | Column | str, *cols: Column | str) -> Frame:
    """Partition rows along the Z-order curve of some columns, and sort each partition along it. The hint `ZORDER`.

    Each file written from the result has a narrow range of every column. So readers that skip files by statistics
    (Delta Lake, Iceberg, this package) read few files. The borders come from a sample of the columns. Spark takes the
    sample when it computes the result.

    Args:
        df: Any DataFrame that is not a stream. It may be one of Spark Connect.
        n: The exact number of partitions. Without it, `spark.sql.shuffle.partitions`.
        cols: One to eight columns of atomic types that have an order, as names or expressions.

    Raises:
        NoExtensionError: This session was started without the extension.
        AnalysisException: `n` is not from 1 to 1000000, or a column is unknown or has no order. Over Spark Connect
            the error comes when the result is computed.

    Examples:
        >>> from spark_zorder import repartition_by_zorder_range
        >>> clustered = repartition_by_zorder_range(rows, 16, "user", "day")
        >>> clustered.selectExpr("spark_partition_id()").distinct().count()
        16
        >>> clustered.write.format("csv").saveAsTable("clustered_events")
    """
    return _hinted(df, "ZORDER", n, *cols)


def repartition_by_hilbert_range(df: Frame, n: int | Column | str, *cols: Column | str) -> Frame:
    """Partition rows along the Hilbert curve of some columns, and sort each partition along it. The hint `HILBERT`.

    The same as `repartition_by_zorder_range` along another curve, which treats the columns more evenly.

    Args:
        df: Any DataFrame that is not a stream. It may be one of Spark Connect.
        n: The exact number of partitions. Without it, `spark.sql.shuffle.partitions`.
        cols: One to eight columns of atomic types that have an order, as names or expressions.

    Raises:
        NoExtensionError: This session was started without the extension.
        AnalysisException: `n` is not from 1 to 1000000, or a column is unknown or has no order. Over Spark Connect
            the error comes when the result is computed.

    Examples:
        >>> from spark_zorder import repartition_by_hilbert_range
        >>> clustered = repartition_by_hilbert_range(rows, 16, "user", "day")
        >>> clustered.selectExpr("spark_partition_id()").distinct().count()
        16
    """
    return _hinted(df, "HILBERT", n, *cols)


def _hinted(df: Frame, name: str, *parameters: int | Column | str) -> Frame:
    # Spark ignores unknown hints.
    if not has_extension(df.sparkSession):
        raise no_extension(df.sparkSession)
    hinted: Frame = _hint(df, name, parameters)  # type: ignore[assignment]
    return hinted


def _hint(df: DataFrame, name: str, parameters: tuple[int | Column | str, ...]) -> DataFrame:
    # PySpark 3.5 takes no columns here, but Spark 3.5 does. A client of Spark Connect has no `_jdf`.
    if not installed_spark().startswith("3.") or not hasattr(df, "_jdf"):
        return df.hint(name, *parameters)
    plain: Any = df
    given = [getattr(parameter, "_jc", parameter) for parameter in parameters]
    hinted: DataFrame = type(plain)(plain._jdf.hint(name, plain._jseq(given)), plain.sparkSession)
    return hinted
