"""Predicates drawn from the data of a folder, and the number of rows for each."""

from pyspark.sql import SparkSession
from pyspark.sql.types import ArrayType, BinaryType, DataType, MapType, NullType, StructType

from realfiles.folders import quoted

MOST_COLUMNS = 8
MOST_VALUES = 4


def leaves(schema: StructType, parents: str = "") -> list[tuple[str, DataType]]:
    """The columns and fields of structs with one value a row."""
    found: list[tuple[str, DataType]] = []
    for field in schema.fields:
        path = parents + quoted(field.name)
        if isinstance(field.dataType, StructType):
            found += leaves(field.dataType, path + ".")
        elif is_atomic(field.dataType):
            found.append((path, field.dataType))
    return found


def is_atomic(kind: DataType) -> bool:
    """Whether values are neither nested nor without an order."""
    return not isinstance(kind, (ArrayType, MapType, StructType, NullType)) and kind.typeName() not in (
        "variant",
        "geometry",
        "geography",
    )


def drawn(spark: SparkSession, source: str, schema: StructType) -> list[str]:
    """Conditions on the columns, with values that are there."""
    predicates: list[str] = []
    for path, kind in leaves(schema)[:MOST_COLUMNS]:
        predicates.append(f"{path} IS NULL")
        shown = f"hex({path})" if isinstance(kind, BinaryType) else f"CAST({path} AS STRING)"
        asked = f"SELECT {shown} FROM {source} WHERE {path} IS NOT NULL LIMIT {MOST_VALUES}"
        values = list(dict.fromkeys(row[0] for row in spark.sql(asked).collect()))
        if not values:
            continue
        literals = [_literal(value, kind) for value in values]
        predicates += [f"{path} = {literals[0]}", f"{path} > {literals[-1]}", f"{path} <= {literals[0]}"]
        predicates.append(f"{path} IN ({', '.join(literals)})")
        if kind.typeName() in ("float", "double"):
            predicates.append(f"{path} = 0")
    nested = [f.name for f in schema.fields if isinstance(f.dataType, (ArrayType, MapType, StructType))]
    predicates += [f"{quoted(name)} IS NULL" for name in nested[:MOST_VALUES]]
    return predicates


def _literal(text: str, kind: DataType) -> str:
    if isinstance(kind, BinaryType):
        return f"X'{text}'"
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"CAST('{escaped}' AS {kind.simpleString()})"


def counts(spark: SparkSession, source: str, predicates: list[str]) -> dict[str, int]:
    """The rows of each predicate, by one query with a scan for each."""
    if not predicates:
        return {}
    parts = [f"SELECT {i} AS n, count(*) AS rows FROM {source} WHERE {p}" for i, p in enumerate(predicates)]
    return {predicates[row.n]: row.rows for row in spark.sql(" UNION ALL ".join(parts)).collect()}
