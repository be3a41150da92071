"""Names, paths and numbers as SQL text."""

from __future__ import annotations

import math
import re
from decimal import Decimal

_PART = re.compile(r"`((?:[^`]|``)+)`|([^`.]+)")


def quote(part: str) -> str:
    """One part of a name in backquotes: `quote("a b")` is "`a b`"."""
    return "`" + part.replace("`", "``") + "`"


def quote_name(name: str) -> str:
    """A dotted name with each part in backquotes: `s.first name` names the field `first name` of `s`.

    A part that holds a dot itself comes in backquotes already: "`a.b`.c".

    Raises:
        ValueError: the name is empty, has an empty part, or its backquotes do not match.
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
    raise ValueError(f"not a name: {name!r}. A part with dots or backquotes in it goes into backquotes: `a.b`.c")


def quote_string(text: str) -> str:
    r"""A string literal: `quote_string("it's")` is `'it\'s'`."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def whole_number(value: int, what: str) -> str:
    """A whole number, 0 or more.

    Raises:
        ValueError: it is something else; the message names `what`.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ValueError(f"{what} must be a whole number, 0 or more, not {value!r}")
    return str(value)


def positive_number(value: float, what: str) -> str:
    """A number above 0, written without an exponent.

    Raises:
        ValueError: it is something else; the message names `what`.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f"{what} must be a number above 0, not {value!r}")
    return format(Decimal(repr(value)), "f")
