"""The rows of each batch. All columns follow from a row's id, so every right answer can be computed."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

BATCH = 200
"""The rows of a batch. Their ids are consecutive."""
KEYS = 1009
"""The number of values of `k`."""
VALUES = 100003
"""The number of values of `v`."""
WORDS = 97
"""The number of values of `s`."""
PARTITIONS = 4
"""The number of values of `p`. Each batch is in one partition."""

SCHEMA = "id BIGINT, batch INT, k INT, v BIGINT, s STRING"

Numbers = NDArray[np.int64]


def ids_of(batches: Iterable[int]) -> Numbers:
    """The ids of some batches, in order."""
    starts = np.array(sorted(batches), dtype=np.int64) * BATCH
    return (starts[:, None] + np.arange(BATCH, dtype=np.int64)).ravel()


def batch_of(ids: Numbers) -> Numbers:
    return ids // BATCH


def p_of(batch: int) -> int:
    """The partition of a batch. Each appender takes every second batch and reaches all partitions."""
    return batch // 2 % PARTITIONS


def k_of(ids: Numbers) -> Numbers:
    return ids * 7919 % KEYS


def v_of(ids: Numbers) -> Numbers:
    return ids * 31 % VALUES


def s_of(ids: Numbers) -> list[str]:
    return [f"s{i % WORDS}" for i in ids.tolist()]


def select(batch: int) -> str:
    """The same rows as a query of Spark. It runs in one task, so an INSERT writes one file."""
    first = batch * BATCH
    return (
        f"SELECT id, CAST(id DIV {BATCH} AS INT) AS batch, CAST(id * 7919 % {KEYS} AS INT) AS k, "
        f"id * 31 % {VALUES} AS v, concat('s', id % {WORDS}) AS s FROM range({first}, {first + BATCH}, 1, 1)"
    )
