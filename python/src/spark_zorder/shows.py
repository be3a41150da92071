"""The statements about many tables: `show_clustering` and `show_operations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spark_zorder.names import quote_name
from spark_zorder.statements import Session, run

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


def show_clustering(spark: Session, database: str | None = None) -> DataFrame:
    """Show how well each table of a database is clustered: `SHOW CLUSTERING`.

    Args:
        spark: The session.
        database: Its name. By default, the current one.

    Returns:
        A row for each table, first those that an `OPTIMIZE` would gain most for: `table`, `format`, `state`, `files`,
            `bytes`, `small_files`, `layout`, `mean_files`, `bound_files`, `new_bytes`, `drift`, `trash_bytes`,
            `last_optimize`, `gain_bytes`, `stale_appends`.

    Examples:
        >>> result = events.optimize(["user", "day"], num_files=16)
        >>> show_clustering(spark).where("table LIKE '%events'").select("state", "files", "layout", "mean_files").show()
        +-----+-----+--------------------+----------+
        |state|files|              layout|mean_files|
        +-----+-----+--------------------+----------+
        |   ok|   16|ZORDER BY (user, ...|       4.0|
        +-----+-----+--------------------+----------+
    """
    return run(spark, "SHOW CLUSTERING" + ("" if database is None else f" IN {quote_name(database)}"))


def show_operations(spark: Session) -> DataFrame:
    """Show how far the statements are that this session runs now: `SHOW OPERATIONS`. Another thread may ask.

    Args:
        spark: The session.

    Returns:
        A row for each statement, the one that began first comes first: `operation`, `table`, `step`, `files`,
            `total_files`, `bytes`, `total_bytes`, `fraction`, `seconds`, `seconds_left`.

    Examples:
        >>> show_operations(spark).select("operation", "step", "fraction").show()
        +---------+----+--------+
        |operation|step|fraction|
        +---------+----+--------+
        +---------+----+--------+
    """
    return run(spark, "SHOW OPERATIONS")
