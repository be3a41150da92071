"""Compares equal conditions in two orders: Spark runs equal parts once, with skipping and without."""

from comparison import ERRORS, no_skipping, node_names
from pyspark.sql import SparkSession


def both_orders(relation: str, one: str, other: str) -> str:
    """A query of two parts that have the same rows."""
    part = "SELECT id % 7 AS k, count(*) AS n FROM {} WHERE ({}) AND ({}) GROUP BY id % 7"
    return f"{part.format(relation, one, other)} UNION ALL {part.format(relation, other, one)}"


def reused(spark: SparkSession, query: str) -> tuple[int, list[tuple[int, int]]] | None:
    """The number of reused exchanges in the query's plan, and its rows. None if it raises an error."""
    try:
        frame = spark.sql(query)
        return node_names(frame).count("ReusedExchangeExec"), sorted((row.k, row.n) for row in frame.collect())
    except ERRORS:
        return None


def lost(spark: SparkSession, query: str) -> str | None:
    """Describe what skipping changes. None if nothing."""
    with no_skipping(spark):
        plain = reused(spark, query)
    ours = reused(spark, query)
    if plain is None or ours is None or (ours[0] >= plain[0] and ours[1] == plain[1]):
        return None
    return f"{ours[0]} exchanges reused with skipping, {plain[0]} without; {ours[1]} and {plain[1]}: {query[:400]}"
