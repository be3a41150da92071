"""Functions of columns whose range in a file follows from the bounds of the column, or whose start does."""

from random import Random

from fuzz.dialects import Text, both, form, quoted


def listed(text: str) -> tuple[str, ...]:
    return tuple(function.strip() for function in text.split(";"))


_CHOICES = listed(
    "greatest({x}, {o}); least({x}, {o}); coalesce({x}, {o}); IF({x} > {o}, {x}, {o}); nullif({x}, {o});"
    "CASE WHEN {x} < {o} THEN {o} ELSE {x} END"
)
_NUMBERS = _CHOICES + listed(
    "{x} * 2; {x} * -3; {x} / 3; {x} + {o}; {x} - {o}; {x} * {o}; try_multiply({x}, {o}); try_divide({x}, {o});"
    "abs({x}); -{x}; sign({x}); round({x}, 1); bround({x}, -1); floor({x}); ceil({x} / 7); sqrt(abs({x})); ln({x});"
    "power({x}, 2); exp(-abs({x})); CAST({x} AS SMALLINT); try_cast({x} AS TINYINT); CAST({x} AS INT);"
    "CAST({x} AS DECIMAL(12,1)); CAST({x} AS FLOAT); CAST({x} AS DOUBLE)"
)

FUNCTIONS: dict[str, tuple[str, ...]] = {
    "whole": _NUMBERS
    + listed("{x} div 7; {x} % 10; pmod({x}, 7); CAST({x} AS STRING); timestamp_seconds({x}); {x} div {o}"),
    "decimal": _NUMBERS,
    "fraction": _NUMBERS,
    "date": _CHOICES
    + listed(
        "last_day({x}); add_months({x}, 1); add_months({x}, -13); date_add({x}, 40); date_sub({x}, 3);"
        "datediff({x}, {o}); unix_date({x}); month({x}); quarter({x}); day({x}); year({x}) * 12 + month({x});"
        "CAST({x} AS STRING); CAST({x} AS TIMESTAMP); {x} + INTERVAL '1' MONTH; {x} - INTERVAL 3 DAYS"
    ),
    "timestamp": _CHOICES
    + listed(
        "unix_seconds({x}); unix_timestamp({x}); unix_millis({x}); CAST({x} AS LONG); CAST({x} AS DOUBLE);"
        "CAST({x} AS DATE); month({x}); last_day({x}); date_format({x}, 'yyyy-MM');"
        "date_format({x}, 'yyyy-MM-dd HH'); {x} + INTERVAL 1 DAY; {x} - INTERVAL '5' HOUR; {x} + INTERVAL '1' MONTH;"
        "{x} - INTERVAL '40 03:04:05' DAY TO SECOND; from_utc_timestamp({x}, 'America/New_York');"
        "to_utc_timestamp({x}, 'Europe/Berlin')"
    ),
    "ntz": _CHOICES + listed("CAST({x} AS DATE); month({x}); {x} + INTERVAL 1 DAY; CAST({x} AS TIMESTAMP)"),
    "text": _CHOICES
    + listed(
        "upper({x}); lower({x}); trim({x}); ltrim({x}); rtrim({x}); concat('a', {x}); {x} || 'é'; concat('k', {x}, 'K')"
    ),
}
"""Functions of a column x and of o, another column of its type or a literal, by the family of the type."""


def compared(r: Random, family: str, c: Text, v: Text, o: Text) -> Text:
    """A function of the column, compared with what it gives for a value."""
    function = r.choice(FUNCTIONS[family])
    # Both sides are about the same other value, so that equality is not rare.
    left, right = form(function, alike=False, x=c, o=o), form(function, alike=False, x=v, o=r.choice((o, v)))
    if family == "text" and r.random() < 0.3:
        return form("{a} LIKE {b} || '%'", alike=False, a=left, b=right)
    if r.random() < 0.1:
        return form(f"{{a}} IS {r.choice(('', 'NOT '))}NULL", alike=False, a=left)
    if r.random() < 0.1:
        return form("{a} IN ({b}, {b}, NULL)", alike=False, a=left, b=right)
    operator = r.choice(("=", "=", "<", "<=", ">", ">=", "<>", "<=>"))
    return form(f"{{a}} {operator} {{b}}", alike=False, a=left, b=right)


def begins(r: Random, c: Text, value: str) -> Text:
    """A regular expression, or a pattern in any case, with a start of a value."""
    start = "".join(ch for ch in value[: r.randint(0, len(value))] if ch.isalnum())
    if r.random() < 0.5:
        return form("{c} ILIKE {p}", alike=False, c=c, p=both(quoted(start.swapcase() + "%")))
    return form(
        "{c} RLIKE {p}", alike=False, c=c, p=both(quoted("^" + start + r.choice(("", "", "?", ".*", "[a-z]", "|z"))))
    )
