"""Compares what footers say with the rows of the same file."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

import fastparquet
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
                raw = partial(_raw_bounds, path, g, c)
                _chunk(verdict, f"{path.name}#{g}", group.column(c), rows, group.num_rows, raw)
    return verdict


def _raw_bounds(path: Path, group: int, column: int) -> tuple[bytes, bytes] | None:
    stats = _raw_footer(path).row_groups[group].columns[column].meta_data.statistics
    return None if stats is None or stats.min_value is None else (bytes(stats.min_value), bytes(stats.max_value))


@cache
def _raw_footer(path: Path) -> Any:
    return fastparquet.ParquetFile(str(path)).fmd


def _chunk(
    verdict: Verdict, where: str, chunk: Any, table: pa.Table, rows: int, raw: Callable[[], tuple[bytes, bytes] | None]
) -> None:
    name = chunk.path_in_schema
    where = f"{where} {name}"
    stats = chunk.statistics
    if "." in name:
        leaf = _leaf(table, name)
        if leaf is not None and stats is not None and stats.has_null_count:
            verdict.note(
                "nested", stats.null_count == leaf.null_count, f"{where}: {stats.null_count}/{leaf.null_count}"
            )
        return
    column = table[name]
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    if stats is None:
        return
    nulls = column.null_count
    if stats.has_null_count:
        verdict.note("nulls", stats.null_count == nulls, f"{where}: {stats.null_count} for {nulls}")
    kind = _kind(column.type)
    # pyarrow does not show bounds of strings of a file that does not say their order. parquet-java does.
    bounds: Any = (stats.min, stats.max) if stats.has_min_max else raw() if kind == "texts" else None
    if not bounds:
        return
    low: Any
    high: Any
    low, high = bounds
    values = column.drop_null()
    if kind == "floats":
        # Readers drop such bounds.
        if math.isnan(low) or math.isnan(high):
            return
        is_nan = pc.is_nan(values)
        verdict.note("nan", not pc.any(is_nan).as_py(), f"{where}: has NaN beside {low} to {high}")
        values = values.filter(pc.invert(is_nan))
        if len(values) == 0 and nulls < rows:
            return
    if len(values) == 0:
        verdict.note("contradictions", False, f"{where}: {low!r} to {high!r} beside nulls only")
        return
    extremes = pc.min_max(values.cast(pa.binary()) if kind == "texts" else values)
    least, most = extremes["min"].as_py(), extremes["max"].as_py()
    if kind == "texts":
        # Strings may be cut.
        low, high = (v.encode() if isinstance(v, str) else v for v in (low, high))
        is_right = low <= least and most <= high
    else:
        is_right = low == least and high == most
    verdict.note(kind, is_right, f"{where}: {low!r:.40} to {high!r:.40} for {least!r:.40} to {most!r:.40}")


def _kind(data_type: pa.DataType) -> str:
    if pa.types.is_boolean(data_type):
        return "booleans"
    if pa.types.is_floating(data_type):
        return "floats"
    is_text = (
        pa.types.is_string,
        pa.types.is_large_string,
        pa.types.is_string_view,
        pa.types.is_binary,
        pa.types.is_large_binary,
        pa.types.is_binary_view,
    )
    return "texts" if any(test(data_type) for test in is_text) else "numbers"


def _leaf(table: pa.Table, name: str) -> Any:
    parts = name.split(".")
    column = table[parts[0]].combine_chunks()
    if not pa.types.is_struct(column.type) or len(parts) != 2:
        return None
    return pc.struct_field(column, parts[1])
