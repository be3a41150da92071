"""Text for Spark and for DuckDB, and the expressions that both define alike.

DuckDB gets only expressions that both engines define in the same way:

- Order and equality of booleans, integers, decimals, TIME, binary, and of strings of the binary collation: by value, by
  bytes. In both, NaN equals itself and is above infinity, and -0.0 equals 0.0. Null equals nothing, except for `<=>`.
- Dates and timestamps are proleptic Gregorian in both. Not compared: ancient ones where files or readers may use the
  hybrid calendar, timestamps in INT96 and ORC, and all that depends on the session's time zone. TIMESTAMP literals
  name UTC.
- Never compared: CHAR, which Spark pads; other collations; intervals, which DuckDB does not order by length;
  variants, arrays and maps; names that differ in case only, which DuckDB takes for one name.
- Functions: LIKE without escape or with an explicit one, starts_with, left, substring, length of strings, year of dates
  and of zone-less timestamps, casts up and casts of integers and dates to strings. No float arithmetic, no function
  that depends on a locale, nothing that overflows: there ANSI mode decides in Spark and never in DuckDB.

DuckDB reads every row into a table first and evaluates conditions as expressions there. So its own skipping of row
groups, which trusts the same statistics as ours, plays no part.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """An expression for Spark and for DuckDB. None if DuckDB would give it another meaning."""

    spark: str
    duck: str | None


def both(words: str) -> Text:
    return Text(words, words)


def only_spark(words: str) -> Text:
    return Text(words, None)


def join(separator: str, parts: list[Text]) -> Text:
    duck = [p.duck for p in parts if p.duck is not None]
    whole = separator.join(duck) if len(duck) == len(parts) else None
    return Text(separator.join(p.spark for p in parts), whole)


def form(template: str, /, *, alike: bool = True, **parts: Text) -> Text:
    """Fill parts into a template. `alike` is False if DuckDB gives the form itself another meaning."""
    spark = template.format(**{k: p.spark for k, p in parts.items()})
    duck = {k: p.duck for k, p in parts.items() if p.duck is not None}
    if not alike or len(duck) < len(parts):
        return Text(spark, None)
    words = template.replace("<=>", "IS NOT DISTINCT FROM").replace("startswith(", "starts_with(")
    return Text(spark, words.format(**duck))


def quoted(value: object) -> str:
    """A string for both. Values have no backslash. Spark reads two quotes as one from 4.1 on only."""
    parts = [f"'{part}'" for part in str(value).split("'")]
    return parts[0] if len(parts) == 1 else f"({' || chr(39) || '.join(parts)})"
