"""Draws conditions on a table's columns, as text for both dialects."""

from collections.abc import Callable
from random import Random

from fuzz.columns import Column, Rows
from fuzz.dialects import Text, both, form, join, quoted
from fuzz.functions import FUNCTIONS, begins, compared, listed

TABLE = "TABLE_ITSELF"
"""Stands for the table in subqueries."""

PARTITION_LITERALS = {
    "INT": ("0", "1", "2", "7"),
    "STRING": ("'a b'", "'x=1'", "'ü%41'", "'zz'"),
    "DATE": ("DATE '2001-02-03'", "DATE '1999-12-31'"),
}

# Conditions by families of types. DuckDB gives those that begin with `!` another meaning.
_WHOLE = listed(
    "{c} > 3000000000; {c} <= {n}.5; {c} = CAST({v} AS DOUBLE); CAST({c} AS DOUBLE) < CAST({v} AS DOUBLE);"
    "CAST({c} AS DECIMAL(20,0)) = {v}; CAST({c} AS DECIMAL(20,0)) + 5 > {v};"
    "CAST({c} AS DECIMAL(20,0)) - {v} BETWEEN 0 AND 9; !CAST({c} AS STRING) = CAST({v} AS STRING);"
    "!try_add({c}, 1) = {v}; {c} % 7 = 3 AND {c} > {v}; !{c} = '{n}'; abs(CAST({c} AS DECIMAL(20,0))) < 1000"
)
_FRACTION = listed(
    "!isnan({c}); {c} > 12; {c} = 0; {c} < 100.25; CAST({c} AS DOUBLE) <= CAST({v} AS DOUBLE);"
    "!CAST({c} AS FLOAT) = CAST({v} AS FLOAT); !{c} * 2 > {v}; !round({c}) = round({v})"
)
_LIKE = listed(
    "{c} LIKE {start}; {c} LIKE {start}; {c} NOT LIKE {start}; startswith({c}, {prefix}); {c} LIKE {more};"
    "{c} LIKE {end}; {c} LIKE {prefix}"
)
_TEXT = listed(
    "left({c}, {n}) = {s}; left({c}, {n}) <= {s}; substring({c}, 1, {n}) IN ({s}, 'zz'); substring({c}, 2, {n}) = {s};"
    "length({c}) > 5; !upper({c}) = upper({v}); {c} || 'x' = {v} || 'x'; !trim({c}) = {v}; !{c} ILIKE {v}; {c} > '';"
    "!{c} LIKE ANY ({p}, {v}); !{c} NOT LIKE ALL ({p}, {v}); !{c} = {v} COLLATE UTF8_LCASE"
)
_DATE = listed(
    "year({c}) {o} {y}; year({c}) IN ({y}, 1950); !trunc({c}, '{u}') {o} {v}; !trunc({c}, 'MM') = trunc({v}, 'MM');"
    "!date_add({c}, 3) {o} {v}; {c} > '2000-01-01'; !CAST({c} AS STRING) {o} '{d}'; !{c} {o} TIMESTAMP '{d} 12:00:00';"
    "!{c} {o} TIMESTAMP_NTZ '{d} 12:00:00'; !CAST({c} AS TIMESTAMP) {o} TIMESTAMP '{d} 00:00:00';"
    "month({c}) = 2 AND {c} < {v}"
)
_MOMENT = listed(
    "year({c}) {o} {y}; CAST({c} AS DATE) {o} {d}; !to_date({c}) = {d};"
    "!date_trunc('{u}', {c}) = date_trunc('{u}', TIMESTAMP {v}); !date_trunc('{u}', {c}) {o} TIMESTAMP {v};"
    "!{c} {o} TIMESTAMP {v}; !{c} {o} TIMESTAMP_NTZ {v}; !{c} {o} {v}; {c} {o} {d};"
    "!{c} + INTERVAL '1' DAY {o} TIMESTAMP {v}; !hour({c}) = 5; !CAST({c} AS STRING) < {v}"
)


class Conditions:
    """Draws conditions from the query's own source of randomness."""

    def __init__(self, r: Random, columns: list[Column], rows: Rows, any_case: bool) -> None:
        self._random, self._columns, self._rows, self._any_case = r, columns, rows, any_case
        # Most conditions of a query are about the same part of the data. Otherwise few queries would find a row.
        self._anchor = r.random()

    def condition(self, depth: int = 3) -> Text:
        """A tree of AND, OR and NOT."""
        r = self._random
        roll = r.random()
        if depth > 0 and roll < 0.5:
            left, right = self.condition(depth - 1), self.condition(depth - 1)
            template = r.choice(("({l}) AND ({r})",) * 14 + ("({l}) OR ({r})",) * 4 + ("({l}) <=> ({r})",))
            joined = form(template, l=left, r=right)
        else:
            joined = self._leaf(r.choice(self._columns))
        roll = r.random()
        if roll < 0.06:
            return form("NOT ({c})", c=joined)
        if roll < 0.07:
            return form("({c}) IS NULL", c=joined)
        return joined

    def _leaf(self, column: Column) -> Text:
        r = self._random
        c = self._named(column)
        roll = r.random()
        if roll < 0.03:
            return form(f"{{c}} IS {r.choice(('', 'NOT '))}NULL", c=c)
        if roll < 0.16 and column.kind.family in FUNCTIONS and not column.partition:
            return self._function(column, c)
        special = self._special(column)
        if special and roll < 0.28:
            return r.choice(special)(column, c)
        if column.kind.family == "kept":
            return form(f"{{c}} IS {r.choice(('', 'NOT '))}NULL", c=c)
        v = self.literal(column)
        if roll < 0.32:
            return form("{c} <=> {v}", c=c, v=r.choice((v, v, both("NULL"))))
        if roll < 0.54:
            return form(f"{{c}} {r.choice(('=',) * 7 + ('<>',))} {{v}}", c=c, v=v)
        if roll < 0.66:
            operator = r.choice(("<", "<=", ">", ">="))
            return form(r.choice((f"{{c}} {operator} {{v}}", f"{{v}} {operator} {{c}}")), c=c, v=v)
        if roll < 0.80:
            return self._in(column, c)
        if roll < 0.83:
            return self._of_two(column, c, v)
        near, far = self._near(column)
        word = r.choice(("BETWEEN", "BETWEEN", "BETWEEN", "BETWEEN", "NOT BETWEEN"))
        return form(f"{{c}} {word} {{a}} AND {{b}}", c=c, a=near, b=far)

    def _function(self, column: Column, c: Text) -> Text:
        r, v = self._random, self.literal(column)
        if column.kind.family == "text" and r.random() < 0.2:
            return begins(r, c, self._value(column))
        alike = [o for o in self._columns if o.kind.sql == column.kind.sql and not o.partition]
        other = self._named(r.choice(alike)) if r.random() < 0.5 else self.literal(column)
        return compared(r, column.kind.family, c, v, other)

    def _named(self, column: Column) -> Text:
        name = column.text
        if self._any_case and name.spark.isidentifier() and self._random.random() < 0.1:
            return Text(name.spark.upper(), name.duck)
        return name

    def _in(self, column: Column, c: Text) -> Text:
        r = self._random
        values = [self.literal(column) for _ in range(r.choice((1, 2, 3, 3, 14, 40)))]
        if r.random() < 0.15:
            values.insert(r.randint(0, len(values)), both("NULL"))
        return form(f"{{c}} {r.choice(('', '', '', '', 'NOT '))}IN ({{v}})", c=c, v=join(", ", values))

    def _of_two(self, column: Column, c: Text, v: Text) -> Text:
        """A condition on two columns, on a subquery, or around a comparison."""
        r = self._random
        alike = [o for o in self._columns if o.kind.sql == column.kind.sql]
        if r.random() < 0.5:
            template = r.choice(
                ("coalesce({c}, {v}) = {v}", "CASE WHEN {c} > {v} THEN true END", "nullif({c}, {v}) IS NULL")
            )
            return form(template, c=c, v=v)
        if r.random() < 0.5:
            return form(f"{{c}} {r.choice(('=', '<', '<=>'))} {{o}}", c=c, o=self._named(r.choice(alike)))
        if column.kind.family == "other text":
            # Spark's own max of a collated string may be the bytes of another row.
            return form("{c} >= {v}", c=c, v=v)
        # The extreme of a column may be NaN. DuckDB's min and max treat it as Spark's do.
        sub = form(f"(SELECT {r.choice(('min', 'max'))}({{c}}) FROM {TABLE} WHERE {{c}} < {{v}})", c=c, v=v)
        return form(f"{{c}} {r.choice(('=', '>=', '<'))} {{s}}", c=c, s=sub)

    # --- literals

    def literal(self, column: Column) -> Text:
        """A literal. Most of them are values that occur near the query's anchor."""
        r, kind = self._random, column.kind
        if column.partition:
            text = r.choice(PARTITION_LITERALS[kind.sql])
            return both(text)
        if kind.outside and r.random() < 0.06:
            return r.choice(kind.outside)
        seen = self._rows.seen[column.path]
        if not seen:
            return kind.literal(1 if kind.sql == "INT" else "1")
        return kind.literal(seen[self._place(len(seen))])

    def _near(self, column: Column) -> tuple[Text, Text]:
        """Two literals. The first is mostly below the second."""
        r = self._random
        seen = [] if column.partition else self._rows.seen[column.path]
        if not seen or r.random() < 0.15:
            return self.literal(column), self.literal(column)
        at = self._place(len(seen))
        return column.kind.literal(seen[at]), column.kind.literal(seen[min(at + r.choice((5, 30, 100)), len(seen) - 1)])

    def _place(self, size: int) -> int:
        r = self._random
        x = r.random() if r.random() < 0.1 else self._anchor + r.gauss(0, 0.02)
        return min(max(int(x * size), 0), size - 1)

    def _value(self, column: Column) -> str:
        seen = self._rows.seen[column.path]
        return str(seen[self._place(len(seen))]) if seen else "1"

    # --- families of types

    def _special(self, column: Column) -> tuple[Callable[[Column, Text], Text], ...]:
        if column.partition:
            return ()
        return {
            "whole": (self._whole,),
            "decimal": (self._decimal,),
            "fraction": (self._fraction,),
            "text": (self._like, self._like, self._text),
            "other text": (self._like,),
            "date": (self._date,),
            "timestamp": (self._moment,),
            "ntz": (self._moment,),
            "boolean": (self._truth,),
            "binary": (self._binary,),
            "kept": (self._kept,),
        }.get(column.kind.family, ())

    def _drawn(self, templates: tuple[str, ...], alike: bool = True, **parts: Text) -> Text:
        template = self._random.choice(templates)
        return form(template.removeprefix("!"), alike=alike and not template.startswith("!"), **parts)

    def _whole(self, column: Column, c: Text) -> Text:
        return self._drawn(_WHOLE, c=c, v=self.literal(column), n=both(self._value(column)))

    def _decimal(self, column: Column, c: Text) -> Text:
        alike = column.kind.sql in ("DECIMAL(9,2)", "DECIMAL(18,4)")
        template = self._random.choice(
            ("{c} > 12", "{c} = 1.5", "{c} < 100.123456", "{c} <= {v} + 1", "CAST({c} AS DOUBLE) < 100.5D")
        )
        return form(
            template, alike=alike and "CAST" not in template and "+" not in template, c=c, v=self.literal(column)
        )

    def _fraction(self, column: Column, c: Text) -> Text:
        return self._drawn(_FRACTION, c=c, v=self.literal(column))

    def _like(self, column: Column, c: Text) -> Text:
        r = self._random
        value = self._value(column)
        prefix = value[: r.randint(0, len(value))]
        # Wildcards that occur in values need an escape to be literal text.
        escaped = prefix.replace("#", "##").replace("%", "#%").replace("_", "#_")
        alike = column.kind.family == "text"
        if escaped != prefix or r.random() < 0.2:
            pattern = quoted(escaped + r.choice(("%", "", "_%")))
            return form("{c} LIKE {p} ESCAPE '#'", alike=alike, c=c, p=both(pattern))
        parts = {"start": f"{prefix}%", "more": f"{prefix}_%", "end": f"%{prefix}", "prefix": prefix}
        return self._drawn(_LIKE, alike, c=c, **{k: both(quoted(v)) for k, v in parts.items()})

    def _text(self, column: Column, c: Text) -> Text:
        value = self._value(column)
        n = self._random.choice((1, 2, 3, 5))
        start, pattern, whole = (both(quoted(text)) for text in (value[:n], value[:n] + "%", value))
        return self._drawn(_TEXT, c=c, n=both(str(n)), s=start, p=pattern, v=whole)

    def _date(self, column: Column, c: Text) -> Text:
        r = self._random
        day = self._value(column)
        year, literal = both(day[:4].lstrip("0")), both(f"DATE '{day}'")
        operator = both(r.choice(("=", "=", "<=", ">", "<>")))
        unit = both(r.choice(("YEAR", "MM", "QUARTER", "WEEK")))
        return self._drawn(_DATE, c=c, d=both(day), y=year, v=literal, o=operator, u=unit)

    def _moment(self, column: Column, c: Text) -> Text:
        r = self._random
        value = self._value(column)
        year, day, local = both(value[:4].lstrip("0")), both(f"DATE '{value[:10]}'"), both(f"'{value}'")
        operator = both(r.choice(("=", "=", "<=", ">", "<>")))
        unit = both(r.choice(("YEAR", "MONTH", "DAY", "HOUR", "WEEK", "MILLISECOND")))
        return self._drawn(_MOMENT, column.kind.family == "ntz", c=c, y=year, d=day, v=local, o=operator, u=unit)

    def _truth(self, column: Column, c: Text) -> Text:
        words = ("{c}", "NOT {c}", "{c} = true", "{c} <=> false", "{c} > false", "{c} IS TRUE", "{c} IS NOT TRUE")
        return form(self._random.choice(words), c=c)

    def _binary(self, column: Column, c: Text) -> Text:
        words = ("length({c}) > 4", "hex({c}) = '{v}'", "substring({c}, 1, 2) = X'{p}'", "{c} >= 'a'")
        value = self._value(column)
        return form(self._random.choice(words), alike=False, c=c, v=both(value.upper()), p=both(value[:4]))

    def _kept(self, column: Column, c: Text) -> Text:
        if column.kind.sql == "VARIANT":
            return form("variant_get({c}, '$.a', 'int') = {v}", c=c, v=self.literal(column))
        if column.kind.sql.startswith("MAP"):
            key = both("'7'" if "STRING" in column.kind.sql else "7")
            words = ("{c}[{k}] = {v}", "try_element_at({c}, {k}) > {v}", "size({c}) = 2", "map_keys({c})[0] = {k}")
            return form(self._random.choice(words), c=c, k=key, v=self.literal(column))
        return form("element_at({c}, 1) = {v}", c=c, v=self.literal(column))
