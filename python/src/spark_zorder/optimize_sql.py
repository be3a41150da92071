"""The SQL of `OPTIMIZE`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from spark_zorder.names import positive_number, quote_name, quote_string

OPTION_KEYWORDS = {
    "num_files": "num-files",
    "target_file_size": "target-file-size-bytes",
    "compression": "compression",
    "retain_hours": "retain-hours",
}
"""The arguments of `ZOrderTable.optimize` that set an option, and the option of each."""


def layout_clause(
    zorder_by: Sequence[str] | Mapping[str, float] | None,
    hilbert_by: Sequence[str] | Mapping[str, float] | None,
    order_by: Sequence[str] | None,
    auto: bool,
) -> str:
    """The clause of a layout, with a blank before it. Empty without a layout.

    Raises:
        TypeError: The columns are a string, or `order_by` has weights.
        ValueError: A name or a weight is wrong, no column is named, or more than one layout is.
    """
    layouts = {"zorder_by": zorder_by, "hilbert_by": hilbert_by, "order_by": order_by}
    chosen = [(name, keys) for name, keys in layouts.items() if keys is not None]
    names = [name for name, _ in chosen] + ["auto"] * auto
    if len(names) > 1:
        raise ValueError(f"one layout at a time, not {' and '.join(names)}")
    if isinstance(order_by, Mapping):
        raise TypeError(f"order_by is a list of columns without weights, not {order_by!r}")
    if auto:
        return " ZORDER BY AUTO"
    return "".join(f" {name.replace('_', ' ').upper()} ({_keys(name, keys)})" for name, keys in chosen)


def options_clause(keywords: Mapping[str, object | None], options: Mapping[str, object] | None) -> str:
    """The clause of the options, with a blank before it. Empty without options.

    Args:
        keywords: Values by the names of `OPTION_KEYWORDS`. None sets nothing.
        options: Values by the keys of options.

    Raises:
        ValueError: A keyword and `options` set the same option.
    """
    found = {OPTION_KEYWORDS[name]: value for name, value in keywords.items() if value is not None}
    for key in options or ():
        if key.lower() in found:
            keyword = next(name for name, option in OPTION_KEYWORDS.items() if option == key.lower())
            raise ValueError(f"{keyword} and the option {key!r} are the same: give one of them")
    pairs = [
        f"{quote_string(key)} = {quote_string(_value(value))}" for key, value in (found | dict(options or {})).items()
    ]
    return f" OPTIONS ({', '.join(pairs)})" if pairs else ""


def joins_clause(joins: Mapping[str, str] | None) -> str:
    """The clauses of joins, with a blank before each. Empty without any.

    Args:
        joins: Names of dimensions, each with the equality of a column of either table.

    Raises:
        TypeError: It is no dict.
        ValueError: A name is wrong.
    """
    if not isinstance(joins, Mapping | None):
        raise TypeError(f'joins is a dict such as {{"customer": "lo_custkey = c_custkey"}}, not {joins!r}')
    return "".join(f" JOIN {quote_name(name)} ON {on}{_newline(on)}" for name, on in (joins or {}).items())


def where_clause(where: str | None) -> str:
    """The clause of a predicate, with a blank before it. Empty without one."""
    if where is None:
        return ""
    return f" WHERE {where}{_newline(where)}"


def _newline(text: str) -> str:
    """Ends a comment in a text before the next clause. After a backslash it goes on in the next line."""
    return "\n\n" if "--" in text else ""


def _keys(layout: str, keys: Sequence[str] | Mapping[str, float]) -> str:
    if isinstance(keys, str):
        raise TypeError(f"{layout} must be a list of columns or a dict of weights, not a string: write [{keys!r}]")
    if not keys:
        raise ValueError(f"{layout} names no column")
    if isinstance(keys, Mapping):
        weights = keys.items()
        return ", ".join(
            f"{quote_name(name)} WEIGHT {positive_number(n, f'the weight of {name}')}" for name, n in weights
        )
    return ", ".join(map(quote_name, keys))


def _value(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
