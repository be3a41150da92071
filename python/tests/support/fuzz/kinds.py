"""The types of columns: how Spark and DuckDB write them, their values, and their literals."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from fuzz.dialects import Text, both, only_spark, quoted

Value = bool | int | float | str | None

LATIN = ("", "a", "a%b", "a_b", "ab", "b", "it's", "z ", "é", "\uffee", "\U0001f600")
"""Sort by bytes."""


@dataclass(frozen=True)
class Kind:
    """A type. Its values ascend with a rank from 0 to 1, except for a few odd ones."""

    sql: str
    family: str
    given: str
    """The type of the values that Python makes."""
    value: Callable[[Random, float], Value]
    literal: Callable[[Value], Text]
    odd: tuple[Value, ...] = ()
    """Odd values, which occur now and then."""
    outside: tuple[Text, ...] = ()
    """Literals beyond most values. Some are beyond the type."""
    cast: str = "CAST({c} AS {sql})"
    """The SQL that makes the column from the type of Python's values."""
    everywhere: bool = True
    """Whether ORC and other writers have this type."""
    ordered: bool = True
    """Whether it can be a clustering column."""
    since: tuple[int, int] = (3, 5)


def _cast_to(sql: str) -> Callable[[Value], Text]:
    return lambda v: both(f"CAST({quoted(v)} AS {sql})")


def _whole(sql: str, bits: int, odd: tuple[int, ...], outside: tuple[str, ...]) -> Kind:
    most = min(2**bits, 2**62)
    return Kind(
        sql,
        "whole",
        sql,
        lambda _, x: min(int((x - 0.5) * most), most // 2 - 1),
        lambda v: both(str(v)),
        odd,
        tuple(map(both, outside)),
    )


def _decimal(precision: int, scale: int) -> Kind:
    sql = f"DECIMAL({precision},{scale})"

    def value(r: Random, x: float) -> Value:
        units = int((x - 0.5) * 10 ** (precision - scale))
        return f"{units}.{r.randrange(10**scale):0{scale}d}" if scale else str(units)

    most = "9" * (precision - scale) + ("." + "9" * scale if scale else "")
    literal = _cast_to(sql)
    return Kind(sql, "decimal", "STRING", value, literal, (most, f"-{most}", "0"), (literal(most), literal("-1")))


def _fraction(sql: str, most: str) -> Kind:
    odd = (math.nan, -0.0, 0.0, math.inf, -math.inf)
    literal = _cast_to(sql)
    outside = tuple(literal(v) for v in (most, "-inf", "nan", "-0.0"))
    return Kind(sql, "fraction", sql, lambda _, x: round((x - 0.5) * 1e6, 3), literal, odd, outside)


def _without_zero(sql: str) -> Kind:
    """Few values, with -0.0 and without 0.0: readers that compare bits find no row where `x = 0.0`."""
    literal = _cast_to(sql)
    return Kind(
        sql,
        "fraction",
        sql,
        lambda _, x: round(x * 12) - 6.0 or -0.0,
        literal,
        outside=tuple(literal(v) for v in ("0.0", "-0.0", "1e30")),
    )


def _map(key: str) -> Kind:
    """Entries that are not in the order of their keys. Foreign writers repeat the first one."""
    return Kind(
        f"MAP<{key}, INT>",
        "kept",
        "INT",
        lambda _, x: int(x * 1000),
        lambda v: only_spark(str(v)),
        cast=f"IF({{c}} IS NULL, NULL, map(CAST('7' AS {key}), {{c}}, CAST('2' AS {key}), {{c}} + 1))",
        ordered=False,
    )


def _short(r: Random, x: float) -> Value:
    return ("k", "ka", "kä", "k\uffee")[int(x * 3.99)] + f"{int(x * 10_000):05d}"


def _long(r: Random, x: float) -> Value:
    return "p" * 140 + f"{int(x * 1000):04d}" + "q" * r.randrange(200)


def _text(sql: str, value: Callable[[Random, float], Value], everywhere: bool = True) -> Kind:
    # Under most collations, Spark has no LIKE.
    family = "text" if everywhere else "other text" if "CHAR" in sql or "LCASE" in sql else "other"
    ordered = everywhere or "COLLATE" not in sql
    outside = tuple(both(quoted(v)) for v in ("", "A", "zz", "\U0010ffff", "p" * 141))
    return Kind(
        sql,
        family,
        "STRING",
        value,
        lambda v: both(quoted(v)),
        outside=outside,
        cast="{c}" if "CHAR" in sql else "CAST({c} AS {sql})",
        everywhere=everywhere,
        ordered=ordered,
    )


def _day(r: Random, x: float) -> str:
    return f"{1902 + int(x * 150):04d}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}"


def _moment(r: Random, x: float) -> Value:
    return f"{_day(r, x)} {r.randrange(24):02d}:{r.randrange(60):02d}:00.{r.randrange(10**6):06d}"


def _binary(v: Value) -> Text:
    return Text(f"X'{v}'", f"from_hex('{v}')")


ANCIENT_DAYS = ("0001-01-01", "1582-10-04", "1582-10-15", "1899-12-31", "9999-12-31")
ANCIENT_MOMENTS = tuple(f"{day} 12:34:56.123456" for day in ANCIENT_DAYS)

KINDS = {
    "tinyint": _whole("TINYINT", 8, (-128, 127), ("127", "128", "-1000")),
    "smallint": _whole("SMALLINT", 16, (-32768, 32767), ("32767", "40000", "-100000")),
    "int": _whole("INT", 21, (-(2**31), 2**31 - 1), ("5000000", "-5000000", "3000000000")),
    "bigint": _whole("BIGINT", 62, (-(2**63), 2**63 - 1), ("9223372036854775807", "-9000000000000000000")),
    "d9": _decimal(9, 2),
    "d18": _decimal(18, 4),
    "d20": _decimal(20, 0),
    "d38": _decimal(38, 10),
    "d38,37": _decimal(38, 37),
    "float": _fraction("FLOAT", "1e30"),
    "double": _fraction("DOUBLE", "1e300"),
    "float without zero": _without_zero("FLOAT"),
    "double without zero": _without_zero("DOUBLE"),
    "map": _map("STRING"),
    "map of numbers": _map("INT"),
    "string": _text("STRING", _short),
    "long string": _text("STRING", _long),
    "few strings": _text("STRING", lambda _, x: LATIN[int(x * (len(LATIN) - 0.01))]),
    "varchar": _text("VARCHAR(20)", _short, everywhere=False),
    "char": _text("CHAR(12)", lambda _, x: f"c{int(x * 1000):04d}", everywhere=False),
    "lower case": _text("STRING COLLATE UTF8_LCASE", lambda r, x: f"{r.choice('cC')}{int(x * 1000):04d}", False),
    "unicode": _text("STRING COLLATE UNICODE_CI", lambda r, x: f"{r.choice('éÉ')}{int(x * 1000):04d}", False),
    "trimmed": _text("STRING COLLATE UTF8_BINARY_RTRIM", lambda r, x: f"{int(x * 1000):04d}{r.choice(' _')}", False),
    "binary": Kind(
        "BINARY",
        "binary",
        "STRING",
        lambda _, x: f"{int(x * 0xFFFFFF):06x}ff",
        _binary,
        ("ff" * 140, ""),  # ("ff" * 140, ""),  # longer than a bound may be, so no bytes are above it
        tuple(map(_binary, ("", "00", "FFFFFFFF", "FF" * 130))),
        "unhex({c})",
    ),
    "date": Kind(
        "DATE",
        "date",
        "STRING",
        _day,
        lambda v: both(f"DATE '{v}'"),
        outside=tuple(both(f"DATE '{v}'") for v in ("0001-01-01", "1582-10-10", "9999-12-31")),
    ),
    "timestamp": Kind(
        "TIMESTAMP",
        "timestamp",
        "STRING",
        _moment,
        lambda v: Text(f"TIMESTAMP '{v} UTC'", f"TIMESTAMP '{v}'"),
        outside=tuple(only_spark(f"TIMESTAMP '{v} 00:00:00'") for v in ("0001-01-01", "1950-06-01", "9999-12-31")),
        cast="CAST(concat({c}, ' UTC') AS TIMESTAMP)",
    ),
    "ntz": Kind(
        "TIMESTAMP_NTZ",
        "ntz",
        "STRING",
        _moment,
        lambda v: Text(f"TIMESTAMP_NTZ '{v}'", f"TIMESTAMP '{v}'"),
        outside=(Text("TIMESTAMP_NTZ '0001-01-01 00:00:00'", "TIMESTAMP '0001-01-01 00:00:00'"),),
    ),
    "boolean": Kind("BOOLEAN", "boolean", "BOOLEAN", lambda _, x: x > 0.7, lambda v: both(str(v).lower())),
    "null": Kind("INT", "whole", "INT", lambda _, x: None, lambda v: both(str(v))),
    "months": Kind(
        "INTERVAL YEAR TO MONTH",
        "other",
        "INT",
        lambda _, x: int(x * 1000) - 500,
        lambda v: only_spark(f"make_ym_interval(0, {v})"),
        outside=(only_spark("INTERVAL '7' YEAR"),),
        cast="make_ym_interval(0, {c})",
        everywhere=False,
    ),
    "span": Kind(
        "INTERVAL DAY TO SECOND",
        "other",
        "BIGINT",
        lambda r, x: int((x - 0.5) * 1e15) + r.randrange(10**6),
        lambda v: only_spark(f"make_dt_interval(0, 0, 0, CAST({v} AS DECIMAL(24,0)) / 1000000)"),
        outside=(only_spark("INTERVAL '7' DAY"),),
        cast="make_dt_interval(0, 0, 0, CAST({c} AS DECIMAL(24,0)) / 1000000)",
        everywhere=False,
    ),
    "time": Kind(
        "TIME(6)",
        "time",
        "STRING",
        lambda r, x: f"{int(x * 23.99):02d}:{r.randrange(60):02d}:{r.randrange(60):02d}.{r.randrange(10**6):06d}",
        lambda v: both(f"TIME '{v}'"),
        everywhere=False,
        since=(4, 1),
    ),
    "variant": Kind(
        "VARIANT",
        "kept",
        "STRING",
        lambda r, x: f'{{"a": {int(x * 1000)}}}',
        lambda v: only_spark(f"variant_get(parse_json({quoted(v)}), '$.a', 'int')"),
        cast="parse_json({c})",
        everywhere=False,
        ordered=False,
    ),
    "array": Kind(
        "ARRAY<INT>",
        "kept",
        "INT",
        lambda _, x: int(x * 1000),
        lambda v: only_spark(str(v)),
        cast="IF({c} IS NULL, NULL, array({c}, {c} + 1))",
        everywhere=False,
        ordered=False,
    ),
}


def value_of(kind: Kind, r: Random, x: float, ancient: bool) -> Value:
    """A value near a rank, or an odd one."""
    if r.random() < 0.002:
        if ancient and kind.family == "date":
            return r.choice(ANCIENT_DAYS)
        if ancient and kind.family in ("timestamp", "ntz"):
            return r.choice(ANCIENT_MOMENTS)
        if kind.odd:
            return r.choice(kind.odd)
    return kind.value(r, x)
