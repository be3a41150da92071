"""Rows of every type and predicates over them, from a seed: the same seed gives the same rows and the same text."""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

# Name, Spark's type, and the type in which Python hands the values over.
COLUMNS = (
    ("ti", "TINYINT", "TINYINT"),
    ("si", "SMALLINT", "SMALLINT"),
    ("i", "INT", "INT"),
    ("l", "BIGINT", "BIGINT"),
    ("d9", "DECIMAL(9,2)", "STRING"),
    ("d18", "DECIMAL(18,4)", "STRING"),
    ("d38", "DECIMAL(38,10)", "STRING"),
    ("f", "FLOAT", "FLOAT"),
    ("d", "DOUBLE", "DOUBLE"),
    ("s", "STRING", "STRING"),
    ("long_s", "STRING", "STRING"),
    ("b", "BINARY", "STRING"),
    ("dt", "DATE", "STRING"),
    ("ts", "TIMESTAMP", "STRING"),
    ("ntz", "TIMESTAMP_NTZ", "STRING"),
    ("bo", "BOOLEAN", "BOOLEAN"),
    ("few", "STRING", "STRING"),
    ("nothing", "INT", "INT"),
    ("st.a", "INT", "INT"),
    ("st.`b c`", "STRING", "STRING"),
    ("st.in.d", "DOUBLE", "DOUBLE"),
)
TYPES = {name: kind for name, kind, _ in COLUMNS}
STRINGS = ("s", "long_s", "few", "st.`b c`")
Value = bool | int | float | str | None

# Literals beyond what most rows hold, some of them beyond the column's type.
OUTSIDE: dict[str, tuple[str, ...]] = {
    "TINYINT": ("127", "128", "-1000"),
    "SMALLINT": ("32767", "40000", "-100000"),
    "INT": ("5000000", "-5000000", "3000000000"),
    "BIGINT": ("9223372036854775807", "-9000000000000000000"),
    "DECIMAL(9,2)": ("CAST('9999999.99' AS DECIMAL(9,2))", "CAST('-9999999.99' AS DECIMAL(9,2))"),
    "DECIMAL(18,4)": ("CAST('99999999999999.9999' AS DECIMAL(18,4))", "CAST('-99999999999999' AS DECIMAL(18,4))"),
    "DECIMAL(38,10)": ("CAST('9999999999999999999999999999' AS DECIMAL(38,10))", "CAST('0' AS DECIMAL(38,10))"),
    "FLOAT": ("float('1e30')", "float('-inf')", "float('nan')"),
    "DOUBLE": ("double('1e300')", "double('-inf')", "double('nan')"),
    "STRING": ("''", "'A'", "'zz'", "'\U0010ffff'"),
    "BINARY": ("X''", "X'00'", "X'FFFFFFFF'", f"X'{'FF' * 130}'"),
    "DATE": ("DATE '0001-01-01'", "DATE '1582-10-10'", "DATE '9999-12-31'"),
    "TIMESTAMP": ("TIMESTAMP '0001-01-01 00:00:00'", "TIMESTAMP '9999-12-31 23:59:59'"),
    "TIMESTAMP_NTZ": ("TIMESTAMP_NTZ '0001-01-01 00:00:00'", "TIMESTAMP_NTZ '9999-12-31 23:59:59'"),
}


@dataclass
class Generator:
    """Rows follow a hidden rank with some noise, so that clustering by any column clusters the others too."""

    seed: int

    def __post_init__(self) -> None:
        self.random = random.Random(self.seed)
        self.seen: dict[str, list[Value]] = {name: [] for name, _, _ in COLUMNS}

    def rows(self, first: int, count: int) -> list[tuple[Value, ...]]:
        """Tuples of an id and a value for each of COLUMNS; structs come as their fields."""
        return [self._row(n, count, first) for n in range(first, first + count)]

    def _row(self, n: int, count: int, first: int) -> tuple[Value, ...]:
        values = {name: self._value(name, (n - first) / count) for name, _, _ in COLUMNS}
        for name, value in values.items():
            if value is not None:
                self.seen[name].append(value)
        return (n, *values.values())

    def _value(self, name: str, rank: float) -> Value:
        r = self.random
        if name == "nothing" or r.random() < (0.3 if name.startswith("st.in") else 0.04):
            return None
        x = min(max(rank + r.gauss(0, 0.01), 0.0), 1.0)  # 0 to 1
        kind = TYPES[name]
        if kind == "BOOLEAN":
            return x > 0.7
        if kind == "TINYINT":
            return int(x * 255) - 128
        if kind == "SMALLINT":
            return int(x * 65535) - 32768
        if kind == "INT":
            return r.choice((-(2**31), 2**31 - 1)) if r.random() < 0.001 else int(x * 2_000_000) - 1_000_000
        if kind == "BIGINT":
            return int((x - 0.5) * 2**62)
        if kind == "DECIMAL(9,2)":
            return f"{(x - 0.5) * 10_000_000:.2f}"
        if kind == "DECIMAL(18,4)":
            return f"{int((x - 0.5) * 10**14)}.{r.randrange(10**4):04d}"
        if kind == "DECIMAL(38,10)":
            return f"{int((x - 0.5) * 10**27)}.{r.randrange(10**10):010d}"
        if kind in ("FLOAT", "DOUBLE"):
            odd = (math.nan, -0.0, 0.0, math.inf, -math.inf)
            return r.choice(odd) if r.random() < 0.01 else round((x - 0.5) * 1e6, 3)
        if kind == "BINARY":
            # Longer than a bound may be, and of bytes that none is above.
            return "ff" * 140 if r.random() < 0.004 else f"{int(x * 0xFFFFFF):06x}ff"
        if kind == "DATE":
            return (
                r.choice(("0001-01-01", "1582-10-04", "1582-10-15", "9999-12-31"))
                if r.random() < 0.004
                else (f"{1900 + int(x * 150):04d}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}")
            )
        if kind in ("TIMESTAMP", "TIMESTAMP_NTZ"):
            year = r.choice((1500, 9999)) if r.random() < 0.004 else 1900 + int(x * 150)
            day = f"{year:04d}-{r.randint(1, 12):02d}-{r.randint(1, 28):02d}"
            return f"{day} 0{r.randrange(10)}:00:00.{r.randrange(10**6):06d}"
        if name == "few":
            return ("", "a", "ab", "b", "é", "\U0001f600")[int(x * 5.99)]
        if name == "long_s":
            return "p" * 140 + f"{int(x * 1000):04d}" + "q" * r.randrange(200)
        start = ("k", "ka", "Kä", "\uffee")[int(x * 3.99)]
        return f"{start}{int(x * 10_000):05d}"

    def predicate(self, depth: int = 3) -> str:
        """A condition as SQL; it raises no error on any row."""
        r = self.random
        if depth > 0 and r.random() < 0.45:
            left, right = self.predicate(depth - 1), self.predicate(depth - 1)
            joined = f"({left}) {r.choice(('AND', 'AND', 'AND', 'OR'))} ({right})"
            return f"NOT ({joined})" if r.random() < 0.1 else joined
        name = r.choice([name for name, _, _ in COLUMNS])
        text = self._leaf(name)
        return f"NOT ({text})" if r.random() < 0.1 else text

    def _leaf(self, name: str) -> str:
        r = self.random
        roll = r.random()
        if TYPES[name] == "BOOLEAN" and roll < 0.5:
            return r.choice((name, f"NOT {name}", f"{name} = true", f"{name} <=> false"))
        if roll < 0.06:
            return f"{name} IS {r.choice(('', 'NOT '))}NULL"
        if roll < 0.10:
            return f"{name} <=> {r.choice((self.literal(name), 'NULL'))}"
        if roll < 0.45:
            return f"{name} {r.choice(('=', '=', '=', '<>'))} {self.literal(name)}"
        if roll < 0.65:
            operator = r.choice(("<", "<=", ">", ">="))
            return r.choice((f"{name} {operator} {self.literal(name)}", f"{self.literal(name)} {operator} {name}"))
        if roll < 0.80:
            values = [self.literal(name) for _ in range(r.choice((1, 2, 3, 14)))]
            values += ["NULL"] if r.random() < 0.15 else []
            return f"{name} {r.choice(('', '', '', 'NOT '))}IN ({', '.join(values)})"
        if roll < 0.90 and name in STRINGS:
            value = str(r.choice(self.seen[name]))
            prefix = value[: r.randint(0, len(value))].replace("'", "''")
            return r.choice(
                (
                    f"{name} LIKE '{prefix}%'",
                    f"{name} NOT LIKE '{prefix}%'",
                    f"startswith({name}, '{prefix}')",
                    f"{name} LIKE '{prefix}_%'",
                    f"{name} LIKE '%{prefix}'",
                    f"left({name}, 2) = '{prefix[:2]}'",
                )
            )
        if roll < 0.94:
            return self._odd(name)
        return f"{name} BETWEEN {self.literal(name)} AND {self.literal(name)}"

    def _odd(self, name: str) -> str:
        """What Spark compares after a cast, or what no statistics can answer."""
        kind = TYPES[name]
        if kind in ("TINYINT", "SMALLINT", "INT"):
            return self.random.choice(
                (
                    f"{name} > 3000000000",
                    f"{name} <= {self.literal(name)[:3].strip('-') or 0}.5",
                    f"{name} = {self.literal(name)}.0D",
                    f"abs(CAST({name} AS BIGINT)) < 1000",
                    f"{name} % 7 = 3",
                    f"cast({name} AS BIGINT) = {self.literal('l')}",
                )
            )
        if kind == "DATE":
            return self.random.choice(
                (f"{name} > '2000-01-01'", f"year({name}) = 1950", f"{name} < {self.literal('ts')}")
            )
        if kind in ("FLOAT", "DOUBLE"):
            return self.random.choice((f"isnan({name})", f"{name} > 12", f"{name} = 0", f"{name} < 100.25"))
        if kind.startswith("DECIMAL"):
            return self.random.choice((f"{name} > 12", f"{name} = 1.5", f"{name} < 100.123456"))
        if kind == "STRING":
            return self.random.choice((f"upper({name}) = 'A'", f"length({name}) > 5", f"{name} > ''", f"{name} = few"))
        return f"{name} IS NOT NULL"

    def literal(self, name: str) -> str:
        """Mostly a value that occurs."""
        kind = TYPES[name]
        if kind in OUTSIDE and self.random.random() < 0.08:
            return self.random.choice(OUTSIDE[kind])
        value = self.random.choice(self.seen[name]) if self.seen[name] else 1
        if kind == "BOOLEAN":
            return str(value).lower()
        if kind in ("TINYINT", "SMALLINT", "INT", "BIGINT"):
            return str(value)
        if kind.startswith("DECIMAL"):
            return f"CAST('{value}' AS {kind})"
        if kind in ("FLOAT", "DOUBLE"):
            return f"{kind.lower()}('{value}')"
        if kind == "BINARY":
            return f"X'{value}'"
        if kind == "STRING":
            return "'" + str(value).replace("'", "''") + "'"
        return f"{kind} '{value}'"
