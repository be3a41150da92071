"""Questions that readers answer, and the types of their columns. Needs nothing but Python, in any environment."""

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

AGGREGATES = "min, max, count"


@dataclass(frozen=True)
class Question:
    """How many rows satisfy a predicate, or the aggregates of a column, such as `s.x`. Values are texts."""

    column: str
    type: str
    ask: str
    values: tuple[str, ...] = ()

    def sql(self, dialect: str) -> str:
        name = f"({self.column})" if dialect == "chdb" else self.column
        if not self.values:
            return f"{name} {self.ask}"
        literals = [TYPES[self.type].literal(dialect, v) for v in self.values]
        return f"{name} IN ({', '.join(literals)})" if self.ask == "IN" else f"{name} {self.ask} {literals[0]}"

    @property
    def parsed(self) -> list[Any]:
        """The values as objects of Python."""
        return [TYPES[self.type].parse(v) for v in self.values]


@dataclass(frozen=True)
class Type:
    """A type of columns, with its literal in SQL, which has `{}` for the text, and those of other dialects."""

    parse: Callable[[str], Any]
    sql: str
    others: dict[str, str]

    def literal(self, dialect: str, text: str) -> str:
        return self.others.get(dialect, self.sql).format(text)


def _decimal(digits: int, scale: int) -> Type:
    return Type(Decimal, f"CAST('{{}}' AS DECIMAL({digits},{scale}))", {})


TYPES = {
    "bool": Type(lambda t: t == "true", "{}", {}),
    "int32": Type(int, "{}", {"spark": "INT({})"}),
    "int64": Type(int, "{}", {"spark": "BIGINT({})"}),
    "float": Type(float, "CAST('{}' AS FLOAT)", {"chdb": "CAST('{}' AS Float32)"}),
    "double": Type(float, "CAST('{}' AS DOUBLE)", {"chdb": "CAST('{}' AS Float64)"}),
    "dec9": _decimal(9, 2),
    "dec38": _decimal(38, 10),
    "date": Type(date.fromisoformat, "DATE '{}'", {"chdb": "toDate32('{}')"}),
    "naive": Type(
        datetime.fromisoformat,
        "TIMESTAMP '{}'",
        {
            "spark": "TIMESTAMP_NTZ '{}'",
            "chdb": "toDateTime64('{}', 6, 'UTC')",
            "datafusion": "arrow_cast('{}', 'Timestamp(Microsecond, None)')",
        },
    ),
    "utc": Type(
        lambda t: datetime.fromisoformat(t).replace(tzinfo=timezone.utc),
        "TIMESTAMPTZ '{}+00'",
        {
            "spark": "TIMESTAMP '{} UTC'",
            "chdb": "toDateTime64('{}', 6, 'UTC')",
            "datafusion": "arrow_cast('{}Z', 'Timestamp(Microsecond, Some(\"UTC\"))')",
        },
    ),
    "string": Type(str, "'{}'", {}),
    "binary": Type(bytes.fromhex, "X'{}'", {"duckdb": "unhex('{}')", "chdb": "unhex('{}')"}),
}


def save(questions: list[Question], file: Path) -> None:
    file.write_text(json.dumps([asdict(q) for q in questions]))


def load(file: Path) -> list[Question]:
    return [Question(**{**q, "values": tuple(q["values"])}) for q in json.loads(file.read_text())]
