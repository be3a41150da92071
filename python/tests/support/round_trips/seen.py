"""What a library sees in a folder: the type and the values of each column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

_INTEGERS = {1: pa.int8(), 2: pa.int16(), 4: pa.int32(), 8: pa.int64()}


def exact(array: pa.Array) -> list[Any]:
    """The values of an array: floats and moments as bits, since -0.0 is not 0.0, and maps as pairs, with keys twice."""
    arrow = array.type
    if pa.types.is_dictionary(arrow):
        return exact(array.dictionary_decode())
    if isinstance(array, pa.ExtensionArray):
        return exact(array.storage)
    if pa.types.is_floating(arrow) or (pa.types.is_temporal(arrow) and arrow.bit_width <= 64):
        return list(array.view(_INTEGERS[arrow.bit_width // 8]).to_pylist())
    if pa.types.is_struct(arrow):
        fields = [exact(array.field(i)) for i in range(arrow.num_fields)]
        rows = list(zip(*fields, strict=True)) if fields else [()] * len(array)
        return [row if there else None for row, there in zip(rows, array.is_valid().to_pylist(), strict=True)]
    if pa.types.is_map(arrow):
        pairs = list(zip(exact(array.keys), exact(array.items), strict=True))
        return _lists(array, pairs)
    if pa.types.is_list(arrow) or pa.types.is_large_list(arrow):
        return _lists(array, exact(array.values))
    if pa.types.is_fixed_size_list(arrow):
        return exact(pc.cast(array, pa.list_(arrow.value_type)))
    return list(array.to_pylist())


def _lists(array: pa.Array, values: list[Any]) -> list[Any]:
    ends = array.offsets.to_pylist()
    there = array.is_valid().to_pylist()
    return [values[start:end] if t else None for start, end, t in zip(ends[:-1], ends[1:], there, strict=True)]


@dataclass(frozen=True)
class Seen:
    """The type and the values of each column, in the order of the key `k`."""

    types: dict[str, str]
    values: dict[str, list[Any]]

    @classmethod
    def of(cls, table: pa.Table, types: Mapping[str, object]) -> Seen:
        """What is in a table."""
        assert set(table.column_names) == set(types)
        ordered = table.take(pc.sort_indices(table["k"].cast(pa.int64()))).combine_chunks()
        values = {
            name: exact(column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column)
            for name, column in zip(ordered.column_names, ordered.columns, strict=True)
        }
        return cls({name: str(t) for name, t in types.items()}, values)

    def changes(self, before: Seen) -> list[str]:
        """A line for each column that is not as it was before."""
        lines = []
        for name in dict.fromkeys((*before.types, *self.types)):
            types = before.types.get(name), self.types.get(name)
            if types[0] != types[1]:
                lines.append(f"{name}: type {types[0]} became {types[1]}")
            if None in types:
                continue
            olds, news = before.values[name], self.values[name]
            if len(olds) != len(news):
                lines.append(f"{name}: {len(olds)} rows became {len(news)}")
                continue
            changed = [i for i, (old, new) in enumerate(zip(olds, news, strict=True)) if old != new]
            if changed:
                key, old, new = before.values["k"][changed[0]], olds[changed[0]], news[changed[0]]
                lines.append(f"{name}: {len(changed)} rows changed, k={key}: {old!r:.300} became {new!r:.300}")
        return lines
