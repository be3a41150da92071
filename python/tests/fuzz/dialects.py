"""Text for Spark and the same for DuckDB, and what both define alike.

DuckDB is asked only what both engines define in the same words:

- Order and equality of booleans, integers, decimals, TIME, binary, and of strings of the binary collation: by value, by
  bytes. Both hold NaN equal to itself and above infinity, and -0.0 equal to 0.0; null is never equal, but for `<=>`.
- Dates and timestamps are both proleptic Gregorian. Left out are ancient ones where files or readers may mean the
  hybrid calendar, timestamps in INT96 and ORC, and all that goes by the session's time zone: TIMESTAMP literals say
  UTC.
- Left out altogether: CHAR, which Spark pads; other collations; intervals, which DuckDB does not order by length;
  variants, arrays and maps; names that differ in case only, which are one name to DuckDB.
- Functions: LIKE without escape or with an explicit one, starts_with, left, substring, length of strings, year of dates
  and of zone-less timestamps, casts up and casts of integers and dates to strings. No float arithmetic, no function
  that follows a locale, nothing that overflows: there ANSI mode decides in Spark and never in DuckDB.

DuckDB reads every row into a table first and evaluates conditions as expressions there: its own skipping of row groups,
which trusts the same statistics as ours, is not what is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """An expression in Spark's words and in DuckDB's, None where they would not mean the same."""

    spark: str
    duck: str | None


def both(words: str) -> Text:
    """The same words in both."""
    return Text(words, words)


def only_spark(words: str) -> Text:
    """Not for DuckDB."""
    return Text(words, None)


def join(separator: str, parts: list[Text]) -> Text:
    """Parts with something between them."""
    duck = [p.duck for p in parts if p.duck is not None]
    whole = separator.join(duck) if len(duck) == len(parts) else None
    return Text(separator.join(p.spark for p in parts), whole)


def form(template: str, /, *, alike: bool = True, **parts: Text) -> Text:
    """A template with parts in its braces; `alike` is False where the form itself means another thing to DuckDB."""
    spark = template.format(**{k: p.spark for k, p in parts.items()})
    duck = {k: p.duck for k, p in parts.items() if p.duck is not None}
    if not alike or len(duck) < len(parts):
        return Text(spark, None)
    words = template.replace("<=>", "IS NOT DISTINCT FROM").replace("startswith(", "starts_with(")
    return Text(spark, words.format(**duck))


def quoted(value: object) -> str:
    """A string literal of both; values hold no backslash."""
    return "'" + str(value).replace("'", "''") + "'"
