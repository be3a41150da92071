"""Questions whose right answer follows from the batches of a table."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from load import rows
from load.rows import Numbers

Mask = Callable[[Numbers], NDArray[np.bool_]]

MOST_UNCERTAIN = 10
"""With at most this number of uncertain batches, a total is checked for every subset. With more, only bounds are."""


@dataclass(frozen=True)
class Question:
    """A condition on a table, in SQL and for an array of ids, and the form of the answer.

    The shape `rows` asks for ids, `groups` for a count and sums of each batch, `total` for one row of aggregates.
    """

    kind: str
    shape: str
    condition: str
    mask: Mask

    def sql(self, relation: str) -> str:
        wanted = {
            "rows": "id",
            "groups": "batch, count(*), sum(id), sum(v)",
            "total": "count(*), sum(id), min(k), max(v)",
        }[self.shape]
        grouped = " GROUP BY batch" if self.shape == "groups" else ""
        return f"SELECT {wanted} FROM {relation} WHERE {self.condition}{grouped}"

    def wrong(self, answer: Sequence[Sequence[Any]], complete: Collection[int], begun: Collection[int]) -> str | None:
        """Describe what is wrong with an answer, if complete batches must be there and begun ones may; or None."""
        ids = rows.ids_of(set(begun) | set(complete))
        matching = ids[self.mask(ids)]
        if self.shape == "total":
            return _wrong_total(answer, matching, frozenset(complete))
        found = _found_ids(answer) if self.shape == "rows" else {int(r[0]): tuple(map(int, r[1:])) for r in answer}
        if isinstance(found, str):
            return found
        if self.shape == "groups" and len(found) < len(answer):
            return "a batch has two groups"
        expected = _by_batch(matching) if self.shape == "groups" else _ids_by_batch(matching)
        for batch, value in found.items():
            if batch not in expected:
                return f"batch {batch} may not be there: {_short(value)}"
            if value != expected[batch]:
                return f"batch {batch}: {_short(value)} in place of {_short(expected[batch])}"
        missing = sorted(set(expected) & set(complete) - set(found))
        return f"batches are missing: {missing[:20]}" if missing else None


def _found_ids(answer: Sequence[Sequence[Any]]) -> dict[int, Any] | str:
    ids = np.sort(np.array([r[0] for r in answer], dtype=np.int64))
    doubled = ids[1:][ids[1:] == ids[:-1]]
    return f"{len(doubled)} rows doubled: {doubled[:20].tolist()}" if len(doubled) else _ids_by_batch(ids)


def _ids_by_batch(ids: Numbers) -> dict[int, Any]:
    batches, starts = np.unique(rows.batch_of(ids), return_index=True)
    parts = np.split(ids, starts[1:])
    return {int(b): tuple(part.tolist()) for b, part in zip(batches, parts, strict=False)}


def _by_batch(ids: Numbers) -> dict[int, Any]:
    batches, numbers = np.unique(rows.batch_of(ids), return_inverse=True)
    sums = [np.zeros(len(batches), dtype=np.int64) for _ in range(3)]
    for total, values in zip(sums, (np.ones_like(ids), ids, rows.v_of(ids)), strict=True):
        np.add.at(total, numbers, values)
    return {int(b): tuple(int(total[i]) for total in sums) for i, b in enumerate(batches)}


def _total(ids: Numbers) -> tuple[int | None, ...]:
    if not len(ids):
        return (0, None, None, None)
    return len(ids), int(ids.sum()), int(rows.k_of(ids).min()), int(rows.v_of(ids).max())


def _wrong_total(answer: Sequence[Sequence[Any]], matching: Numbers, complete: frozenset[int]) -> str | None:
    (row,) = answer
    found = tuple(None if value is None else int(value) for value in row)
    batches = rows.batch_of(matching)
    certain = np.isin(batches, list(complete))
    uncertain = sorted(set(batches[~certain].tolist()))
    least, most = _total(matching[certain]), _total(matching)
    if len(uncertain) > MOST_UNCERTAIN:
        right = least[0] <= found[0] <= most[0]  # type: ignore[operator]
    else:
        right = any(
            found == _total(matching[certain | np.isin(batches, some)])
            for size in range(len(uncertain) + 1)
            for some in combinations(uncertain, size)
        )
    return None if right else f"{found} in place of {least} and {uncertain} more, {most} with all of them"


def _short(value: object) -> str:
    text = str(value)
    return text if len(text) < 200 else f"{text[:200]}.. ({len(text)} characters)"


def drawn(rng: Random, batches: Collection[int], partitioned: bool) -> Question:
    """Draw a question. Most of them are about rows that are there."""
    some = rng.choice(sorted(batches))
    kind = rng.choice(("all", "lookup", "lookup", "range", "range", "two keys", "list", "word", "batch", "ids", "part"))
    condition, mask = _condition(kind, rng, some, partitioned)
    shapes = ("groups", "total") if kind == "all" else ("rows", "rows", "groups", "total")
    return Question(kind, rng.choice(shapes), condition, mask)


def everything(shape: str) -> Question:
    """A question about all rows of a table."""
    return Question("all", shape, *_condition("all", Random(0), 0, False))


def _condition(kind: str, rng: Random, batch: int, partitioned: bool) -> tuple[str, Mask]:
    k, v = rng.randrange(rows.KEYS), rng.randrange(rows.VALUES)
    width, first = rng.choice((1, 5, 50, 300)), batch * rows.BATCH + rng.randrange(rows.BATCH)
    if kind == "lookup":
        return f"k = {k}", lambda ids: rows.k_of(ids) == k
    if kind == "range":
        return f"k BETWEEN {k} AND {k + width}", lambda ids: (rows.k_of(ids) >= k) & (rows.k_of(ids) <= k + width)
    if kind == "two keys":
        least = v // 2
        return (
            f"k < {k} AND v >= {least} AND v < {v}",
            lambda ids: (rows.k_of(ids) < k) & (rows.v_of(ids) >= least) & (rows.v_of(ids) < v),
        )
    if kind == "list":
        few = sorted(rng.sample(range(rows.KEYS), 12))
        return f"k IN ({', '.join(map(str, few))})", lambda ids: np.isin(rows.k_of(ids), few)
    if kind == "word":
        word = k % rows.WORDS
        return f"s = 's{word}' OR k = {k}", lambda ids: (ids % rows.WORDS == word) | (rows.k_of(ids) == k)
    if kind == "batch":
        return f"batch = {batch}", lambda ids: rows.batch_of(ids) == batch
    if kind == "ids":
        return f"id >= {first} AND id < {first + width}", lambda ids: (ids >= first) & (ids < first + width)
    if kind == "part":
        part = k % rows.PARTITIONS
        column = "p" if partitioned else f"batch DIV 2 % {rows.PARTITIONS}"
        return f"{column} = {part}", lambda ids: rows.batch_of(ids) // 2 % rows.PARTITIONS == part
    return "true", lambda ids: np.ones(len(ids), dtype=np.bool_)
