"""Tables that bring out each feature of files that readers use: their columns, and the questions about these."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import orc, parquet
from reader_questions import AGGREGATES, TYPES, Question

ROWS = 360

_NUMBERS = ("-9000", "-7", "0", "4", "8", "15", "16", "23", "42", "9000")
_DAYS = tuple(f"{y}-03-01" for y in range(1950, 2050, 10))
# pyarrow stores fractions before 1970 in ORC so that Spark cannot read them.
_MOMENTS = tuple(f"{day} 01:02:03.{0 if day < '1970' else 4:06d}" for day in _DAYS)
_KINDS: dict[str, tuple[pa.DataType, tuple[str, ...], str]] = {
    "bool": (pa.bool_(), ("false", "true"), "true"),
    "int32": (pa.int32(), _NUMBERS, "5"),
    "int64": (pa.int64(), _NUMBERS, "5"),
    "float": (pa.float32(), tuple(f"{n}.5" for n in _NUMBERS), "5.25"),
    "double": (pa.float64(), tuple(f"{n}.5" for n in _NUMBERS), "5.25"),
    "dec9": (pa.decimal128(9, 2), tuple(f"{n}.25" for n in _NUMBERS), "5.01"),
    "dec38": (pa.decimal128(38, 10), tuple(f"{n}000000000000.2500000001" for n in _NUMBERS), "5.01"),
    "date": (pa.date32(), _DAYS, "1985-01-01"),
    "naive": (pa.timestamp("us"), _MOMENTS, "1985-01-01 00:00:00.000000"),
    "utc": (pa.timestamp("us", tz="UTC"), _MOMENTS, "1985-01-01 00:00:00.000000"),
    "string": (pa.string(), ("", "A", "B", "Zoe", "a", "ab", "zz", "Ä", "é", "日本"), "b"),
    "binary": (pa.binary(), ("", "00", "0001", "41", "7f", "7fff", "80", "a0a0", "ff", "ffff"), "42"),
}
"""Types: Arrow's, the values in order, and a value between others, which no row has. For `bool` there is none."""

THOROUGH = ("int32", "double", "dec38", "utc", "string")
"""The types of columns that are null, sorted, or in structs. With all of them Spark would take an hour."""

FLOATS = {
    "-0.0": ("-0.0", "1.5", "-2.5", "7.5"),
    "0.0": ("0.0", "1.5", "-2.5", "7.5"),
    "both zeros": ("-0.0", "0.0", "1.5", "-2.5"),
    "NaN": ("nan", "1.5", "-2.5", "0.0"),
    "only NaN": ("nan",),
    "NaN and -0.0": ("nan", "-0.0", "1.5"),
}
"""What columns of floats hold, by the name of the feature."""

Text = Callable[[int], "str | None"]


@dataclass(frozen=True)
class Content:
    """A column that shows a feature: its values as texts by the row's key, and what it is compared with."""

    feature: str
    name: str
    type: str
    text: Text
    literals: tuple[str, ...]
    nested: bool = False

    def values(self) -> list[Any]:
        texts = [self.text(k) for k in range(ROWS)]
        return [None if t is None else TYPES[self.type].parse(t) for t in texts]

    def array(self) -> pa.Array:
        values = pa.array(self.values(), _KINDS[self.type][0])
        if not self.nested:
            return values
        absent = pa.array([k % 3 == 0 for k in range(ROWS)])
        return pa.StructArray.from_arrays([values], fields=[pa.field("x", values.type)], mask=absent)

    def questions(self) -> list[Question]:
        column = f"{self.name}.x" if self.nested else self.name
        asks = [Question(column, self.type, ask) for ask in ("IS NULL", "IS NOT NULL", AGGREGATES)]
        asks += [Question(column, self.type, "=", (v,)) for v in self.literals[:3]]
        for ask in ("<", ">=", "<>", *(("<=", ">") if self.feature in ("-0.0", "NaN") else ())):
            asks.append(Question(column, self.type, ask, (self.literals[0],)))
        return [*asks, *(Question(column, self.type, "IN", self.literals[i : i + 2]) for i in (0, 1, 3))]


def contents() -> list[Content]:
    found = []
    for kind, (_, values, absent) in _KINDS.items():
        n = len(values)
        literals = (values[n // 2], absent, values[1], values[-1], values[n // 3])

        def mixed(k: int, values: tuple[str, ...] = values, n: int = n) -> str | None:
            return None if k % 5 == 1 else values[k * 7 % n]

        def late(k: int, mixed: Text = mixed) -> str | None:
            return None if k < ROWS // 2 else mixed(k)

        def ordered(k: int, values: tuple[str, ...] = values, n: int = n) -> str:
            return values[k * n // ROWS]

        found.append(Content("mixed", f"c_{kind}", kind, mixed, literals))
        if kind in THOROUGH:
            found += [
                Content("null", f"{kind}_late", kind, late, literals),
                Content("null", f"{kind}_null", kind, lambda k: None, literals),
                Content("sorted", f"{kind}_sorted", kind, ordered, literals),
                Content("struct", f"{kind}_struct", kind, mixed, literals, nested=True),
            ]
    for kind in ("float", "double"):
        for number, (feature, values) in enumerate(FLOATS.items()):
            cell = "NaN" if "NaN" in feature else "-0.0"

            def some(k: int, values: tuple[str, ...] = values) -> str | None:
                return None if k % 5 == 1 else values[k * 7 % len(values)]

            asked = ("0.0", "-0.0", "nan", "1.5", "5.5")
            found.append(Content(cell, f"{kind}_{number}", kind, some, asked))
            if kind == "double":
                found.append(Content(cell, f"{kind}_{number}_struct", kind, some, asked, nested=True))
    return found


def truth(content: Content, question: Question) -> int | None:
    """The number of rows that satisfy a question, or none where readers may differ."""
    if question.ask == AGGREGATES or content.type in ("float", "double"):
        return None
    values = [v if not content.nested or k % 3 else None for k, v in enumerate(content.values())]
    there = [v for v in values if v is not None]
    a = question.parsed
    tests: dict[str, Callable[[Any], bool]] = {
        "=": lambda v: v == a[0],
        "<>": lambda v: v != a[0],
        "<": lambda v: v < a[0],
        "<=": lambda v: v <= a[0],
        ">": lambda v: v > a[0],
        ">=": lambda v: v >= a[0],
        "IN": lambda v: v in a,
        "IS NOT NULL": lambda v: True,
    }
    return len(values) - len(there) if question.ask == "IS NULL" else sum(map(tests[question.ask], there))


def write(columns: list[Content], folder: Path, form: str, statistics: bool = True) -> None:
    """Write a folder of two files, in no order, with neither dictionaries nor Bloom filters."""
    folder.mkdir()
    keys = sorted(range(ROWS), key=lambda k: math.sin(k))
    table = pa.table({"k": pa.array(range(ROWS), pa.int32()), **{c.name: c.array() for c in columns}}).take(keys)
    for number in range(2):
        part = table.take(list(range(number * ROWS // 2, (number + 1) * ROWS // 2)))
        if form == "orc":
            orc.write_table(part, folder / f"in-{number}.orc")
        else:
            file = folder / f"in-{number}.parquet"
            parquet.write_table(part, file, use_dictionary=False, write_statistics=statistics, store_schema=False)
