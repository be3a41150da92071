"""Compares what footers say with the rows of the same file."""

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq


@dataclass
class Verdict:
    """What was wrong in a writer's footers, by the kind of claim, and how many claims there were."""

    created_by: set[str] = field(default_factory=set)
    claims: dict[str, int] = field(default_factory=dict)
    wrong: dict[str, list[str]] = field(default_factory=dict)

    def note(self, kind: str, is_right: bool, where: str) -> None:
        self.claims[kind] = self.claims.get(kind, 0) + 1
        if not is_right:
            self.wrong.setdefault(kind, []).append(where)


def check(files: list[Path]) -> Verdict:
    verdict = Verdict()
    for path in files:
        file = pq.ParquetFile(path)
        verdict.created_by.add(file.metadata.created_by)
        for g in range(file.num_row_groups):
            rows = file.read_row_group(g)
            group = file.metadata.row_group(g)
            for c in range(group.num_columns):
                _chunk(verdict, f"{path.name}#{g}", group.column(c), rows, group.num_rows)
    return verdict


def _chunk(verdict: Verdict, where: str, chunk: Any, table: pa.Table, rows: int) -> None:
    name = chunk.path_in_schema
    where = f"{where} {name}"
    stats = chunk.statistics
    if "." in name:
        leaf = _leaf(table, name)
        if leaf is not None and stats is not None and stats.has_null_count:
            verdict.note("nested", stats.null_count == leaf.null_count, f"{where}: {stats.null_count}/{leaf.null_count}")
        return
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if stats is None:
        return
    nulls = column.null_count
    if stats.has_null_count:
        verdict.note("nulls", stats.null_count == nulls, f"{where}: {stats.null_count} for {nulls}")
    if not stats.has_min_max:
        return
    values = column.drop_null()
    low, high = stats.min, stats.max
    t = column.type
    kind = "booleans" if pa.types.is_boolean(t) else "texts" if pa.types.is_string(t) or pa.types.is_large_string(
        t
    ) or pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_string_view(t) else "numbers"
    if pa.types.is_floating(t):
        kind = "floats"
        values = values.filter(pc.invert(pc.is_nan(values)))
        if len(values) == 0:
            verdict.note("floats", math.isnan(low) or nulls < rows, f"{where}: bounds of nothing")
            return
    if len(values) == 0:
        verdict.note("all_null", False, f"{where}: {low} to {high} beside nulls only")
        return
    if pa.types.is_string_view(t):
        values = values.cast(pa.string())
    extremes = pc.min_max(values)
    least, most = extremes["min"].as_py(), extremes["max"].as_py()
    if kind == "texts":
        b = [v.encode() if isinstance(v, str) else v for v in (low, least, most, high)]
        verdict.note(kind, b[0] <= b[1] and b[2] <= b[3], f"{where}: {low!r:.30} {high!r:.30}")
    elif kind == "floats":
        verdict.note(kind, low == least and high == most, f"{where}: {low} to {high} for {least} to {most}")
    else:
        verdict.note(kind, low == least and high == most, f"{where}: {low} to {high} for {least} to {most}")


def _leaf(table: pa.Table, name: str) -> Any:
    parts = name.split(".")
    column = table[parts[0]].combine_chunks()
    if not pa.types.is_struct(column.type) or len(parts) != 2:
        return None
    return pc.struct_field(column, parts[1])
