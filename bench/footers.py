"""Counts the files that queries touch, from the footers of plain Parquet files."""

from __future__ import annotations

import random
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path


@dataclass(frozen=True)
class Column:
    """A key column: the rank of each row's value, all ranks in ascending order, and the bounds of each file."""

    rows: np.ndarray
    ranks: np.ndarray
    low: np.ndarray
    high: np.ndarray

    def point(self) -> float:
        """Mean number of files whose bounds contain the value of a random row."""
        covered = np.searchsorted(self.ranks, self.high, "right") - np.searchsorted(self.ranks, self.low, "left")
        return float(covered.sum() / len(self.ranks))

    def of_range(self, share: float, queries: int, seed: int) -> float:
        """Mean number of files that overlap a range of values with this share of the rows."""
        generator = random.Random(seed)
        width = max(1, int(len(self.ranks) * share))
        total = 0
        for _ in range(queries):
            first = generator.randrange(len(self.ranks) - width + 1)
            total += int(self.overlaps(self.ranks[first], self.ranks[first + width - 1]).sum())
        return total / queries

    def overlaps(self, low: int, high: int) -> np.ndarray:
        """Which files may hold values of a range."""
        return (self.low <= high) & (self.high >= low)


@dataclass(frozen=True)
class Table:
    """The number of rows of each file, and the key columns."""

    sizes: list[int]
    columns: dict[str, Column]

    def conjunction(self, queries: int, seed: int) -> float:
        """Mean number of files that may hold a random row's values of two columns, over all pairs of columns."""
        generator = random.Random(seed)
        found = list(self.columns.values())
        pairs = [(a, b) for i, a in enumerate(found) for b in found[i + 1 :]]
        total = 0
        for a, b in pairs:
            for _ in range(queries):
                row = generator.randrange(len(a.rows))
                both = a.overlaps(a.rows[row], a.rows[row]) & b.overlaps(b.rows[row], b.rows[row])
                total += int(both.sum())
        return total / (len(pairs) * queries)


def live(folder: Path) -> list[Path]:
    """The data files of a plain table, without hidden folders."""
    files = sorted(folder.rglob("*.parquet"))
    return [p for p in files if not any(part.startswith(("_", ".")) for part in p.relative_to(folder).parts)]


def read(folder: Path, keys: Sequence[str]) -> Table:
    """Read the table in a folder."""
    files = live(folder)
    metas = [pq.read_metadata(p) for p in files]
    table = ds.dataset([str(p) for p in files]).to_table(columns=list(keys))
    return Table(
        [meta.num_rows for meta in metas],
        {key: _column(table[key].combine_chunks(), metas, key) for key in keys},
    )


def _column(values: pa.Array, metas: list[pq.FileMetaData], key: str) -> Column:
    encoded = values.dictionary_encode()
    order = pc.array_sort_indices(encoded.dictionary).to_numpy()
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    rows = rank[encoded.indices.to_numpy()]
    distinct = encoded.dictionary.take(pa.array(order)).to_pylist()
    low, high = [], []
    for meta in metas:
        at = meta.schema.to_arrow_schema().get_field_index(key)
        chunks = [meta.row_group(g).column(at).statistics for g in range(meta.num_row_groups)]
        low.append(bisect_left(distinct, min(c.min for c in chunks)))
        high.append(bisect_left(distinct, max(c.max for c in chunks)))
    return Column(rows, np.sort(rows), np.array(low), np.array(high))
