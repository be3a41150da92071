"""Rows of any DataFrame in partitions along a space-filling curve, whatever they are written to."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from spark_zorder.errors import NoExtensionError
from spark_zorder.session import EXTENSION

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

    Frame = TypeVar("Frame", bound=DataFrame)


def repartition_by_zorder_range(df: Frame, n: int | Column | str, *cols: Column | str) -> Frame:
    """Partitions along the Z-order curve of some columns, each sorted along it; the hint `ZORDER`.

    Files that are written from it have narrow ranges of each of the columns, so readers that skip files by their
    statistics (Delta Lake, Iceberg, this package) read few of them. The boundaries come of a sample of the columns,
    which is taken when the result is computed.

    Args:
        df: Any DataFrame that is no stream, over Spark Connect as well.
        n: How many partitions, exactly. It may be left out for `spark.sql.shuffle.partitions`.
        cols: One to eight columns, of atomic types that can be ordered; names or expressions.

    Raises:
        NoExtensionError: The session has not the extension.
        AnalysisException: `n` is not from 1 to 1000000, or a column is unknown or cannot be ordered. Over Spark
            Connect it comes when the result is asked for.
    """
    return _hinted(df, "ZORDER", n, *cols)


def repartition_by_hilbert_range(df: Frame, n: int | Column | str, *cols: Column | str) -> Frame:
    """Partitions along the Hilbert curve of some columns, each sorted along it; the hint `HILBERT`.

    As `repartition_by_zorder_range`, and more even among the columns.
    """
    return _hinted(df, "HILBERT", n, *cols)


def _hinted(df: Frame, name: str, *parameters: int | Column | str) -> Frame:
    # Spark passes over hints that nobody knows. The functions come with the extension.
    if not df.sparkSession.catalog.functionExists("interleave_bits"):
        raise NoExtensionError(f"the session has not the extension {EXTENSION}: start it with configure_spark")
    hinted: Frame = df.hint(name, *parameters)  # type: ignore[assignment]
    return hinted
