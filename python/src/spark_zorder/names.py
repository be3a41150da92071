"""Names, paths, numbers and times as SQL text."""

from __future__ import annotations

import math
import operator
import re
from datetime import date, datetime
from decimal import Decimal
from typing import SupportsIndex

_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")


def quote(part: str) -> str:
    """Put one part of a name in backquotes: `quote("a b")` is "`a b`"."""
    return "`" + part.replace("`", "``") + "`"


def quote_name(name: str) -> str:
    """Put each part of a dotted name in backquotes: `s.first name` is the field `first name` of `s`.

    A part with a dot in it must be in backquotes already: "`a.b`.c".

    Raises:
        ValueError: The name is empty, has an empty part, or has a backquote without its pair.
    """
    parts, at = [], 0
    while match := _PART.match(name, at):
        parts.append(match[1].replace("``", "`") if match[1] is not None else match[2])
        at = match.end()
        if at == len(name):
            return ".".join(map(quote, parts))
        if name[at] != ".":
            break
        at += 1
    raise ValueError(f"not a name: {name!r}. Put a part with dots or backquotes in it into backquotes: `a.b`.c")


def quote_string(text: str) -> str:
    r"""Write a string literal: `quote_string("it's")` is `'it\'s'`."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def whole_number(value: SupportsIndex, what: str) -> int:
    """Check a whole number, 0 or more, which may also be one of NumPy's.

    Raises:
        ValueError: It is something else. The message starts with `what`.
    """
    number = -1 if isinstance(value, bool) or not isinstance(value, SupportsIndex) else operator.index(value)
    if number < 0:
        raise ValueError(f"{what} must be a whole number, 0 or more, not {value!r}")
    return number


def number_from_zero(value: float, what: str) -> str:
    """Write a number, 0 or more, without an exponent.

    Raises:
        ValueError: It is something else. The message starts with `what`.
    """
    if not _is_number(value) or not 0 <= value < math.inf:
        raise ValueError(f"{what} must be a number, 0 or more, not {value!r}")
    return _without_exponent(value)


def positive_number(value: float, what: str) -> str:
    """Write a number above 0, without an exponent.

    Raises:
        ValueError: It is something else. The message starts with `what`.
    """
    if not _is_number(value) or not 0 < value < math.inf:
        raise ValueError(f"{what} must be a number above 0, not {value!r}")
    return _without_exponent(value)


def time_literal(time: str | date, what: str) -> str:
    """Write a time as a string literal. A `datetime` without a zone is in the zone of this process.

    Raises:
        TypeError: It is something else. The message starts with `what`.
    """
    if isinstance(time, datetime):
        # PySpark gives the timestamps of rows to Python in this zone, without saying so.
        time = (time if time.tzinfo else time.astimezone()).isoformat(" ")
    elif isinstance(time, date):
        time = time.isoformat()
    elif not isinstance(time, str):
        raise TypeError(f"{what} must be a text, a datetime or a date, not {time!r}")
    return quote_string(time)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _without_exponent(value: float) -> str:
    # numpy's floats are floats, but their repr is `np.float64(0.5)`.
    return format(Decimal(value if isinstance(value, int) else repr(float(value))), "f")
