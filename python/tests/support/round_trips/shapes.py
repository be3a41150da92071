"""Nests a type three deep, with nulls and empty collections at each level."""

import zlib
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

import pyarrow as pa

from round_trips.kinds import Kind

ROWS = 96
"""The rows of a table. Half of them go into each of two files."""

Make = Callable[[Random], Any]


def _or_null(make: Make) -> Make:
    return lambda r: None if r.random() < 0.15 else make(r)


def _list(make: Make) -> Make:
    return lambda r: [make(r) for _ in range(r.choice((0, 1, 1, 3)))]


def _struct(make: Make) -> Make:
    return lambda r: {"x": make(r), "n": r.choice((None, 1, 2))}


def _map(make: Make, keys: Sequence[Any], twice: bool) -> Make:
    """A map, with keys in no order. If `twice`, some keys are there more than once."""

    def entries(r: Random) -> list[tuple[Any, Any]]:
        chosen = r.choices(keys, k=3) if twice else r.sample(keys, min(len(keys), 2))
        return [(key, make(r)) for key in chosen[: r.choice((0, 2, 3))]]

    return entries


def _struct_type(inner: pa.DataType) -> pa.DataType:
    return pa.struct([("x", inner), ("n", pa.int32())])


def _shape(shape: str, kind: Kind, twice: bool) -> tuple[pa.DataType, Make]:
    """The type and the values of a shape such as `lsm`: a list of structs of maps."""
    arrow, make = kind.type, _or_null(lambda r: r.choice(kind.values))
    for level in reversed(shape):
        if level == "l":
            arrow, make = pa.list_(arrow), _or_null(_list(make))
        elif level == "s":
            arrow, make = _struct_type(arrow), _or_null(_struct(make))
        elif level == "m":
            arrow, make = pa.map_(pa.string(), arrow), _or_null(_map(make, ("z", "", "a", "ü"), twice))
        else:
            arrow, make = pa.map_(kind.type, arrow), _or_null(_map(make, kind.values, twice))
    return arrow, make


SHAPES = ("lll", "lsm", "mls", "sml", "ssl", "kll", "slk")
"""Lists, structs, maps of strings, and maps with the type as key."""


def table(kinds: Sequence[Kind], shapes: Sequence[str], each: int, turn: int, twice: bool) -> pa.Table:
    """A table with a key `k` and each type, as it is and in some of the shapes, by turns. Maps may have a key twice."""
    columns = {"k": pa.array([i * 7919 % 997 for i in range(ROWS)], pa.int32())}
    for number, kind in enumerate(kinds):
        taken = [shapes[(turn + number * each + i) % len(shapes)] for i in range(min(each, len(shapes)))]
        for shape in ("", *taken):
            arrow, make = _shape(shape, kind, twice)
            name = f"{kind.name}_{shape}".rstrip("_")
            random = Random(zlib.crc32(name.encode()))
            columns[name] = pa.array([make(random) for _ in range(ROWS)], arrow)
    return pa.table(columns)
