"""Independent counts by readers that know nothing of the extension, and an appender without Spark."""

import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

import duckdb
import numpy as np
from pyarrow import dataset

from load import rows
from load.events import RIGHT, WRONG, Events
from load.loops import Loop
from load.questions import everything
from load.rows import Numbers
from load.tables import LoadTable

OVERLAPPED, FAILED = "beside an exchange", "failed beside an exchange"
"""The outcomes of a count during an exchange of files. A plain reader may miss rows, see them twice, or fail because
files are gone."""

State = tuple[int, frozenset[str]]


def by_pyarrow(table: LoadTable) -> Numbers:
    found = dataset.dataset(table.root, format=table.file_format, partitioning="hive").to_table(columns=["id"])
    return np.asarray(found.column("id").to_numpy(), dtype=np.int64)


def by_duckdb(table: LoadTable) -> Numbers:
    with duckdb.connect(config={"threads": "1"}) as connection:
        found = connection.sql(f"SELECT id FROM read_parquet('{table.pattern}')").fetchnumpy()["id"]
    return np.asarray(found, dtype=np.int64)


COUNTERS: dict[str, Callable[[LoadTable], Numbers]] = {"pyarrow": by_pyarrow, "DuckDB": by_duckdb}


class Counting(Loop):
    """Counts one table after the other. The answer must be exact, unless files were exchanged meanwhile."""

    def __init__(self, tables: Sequence[LoadTable], rng: Random, events: Events) -> None:
        self._tables, self._rng, self._events = tables, rng, events

    def pause(self) -> float:
        return self._rng.uniform(0.2, 1.0)

    def step(self) -> None:
        table = self._rng.choice(self._tables)
        reader = "pyarrow" if table.file_format == "orc" else self._rng.choice(sorted(COUNTERS))
        ledger, about = table.ledger(), {"way": reader, "table": table.name}
        before, complete, began = settled(table.root), ledger.complete(), time.time()
        try:
            ids, failed = COUNTERS[reader](table), ""
        except (OSError, duckdb.Error) as error:
            ids, failed = None, f"{type(error).__name__}: {error}"
        quiet = before is not None and before == settled(table.root)
        begun = ledger.begun()
        more: dict[str, int] = {}
        if ids is None:
            # Listed files are gone.
            outcome, wrong = FAILED, failed if quiet else None
        elif quiet:
            outcome, wrong = RIGHT, everything("rows").wrong(ids[:, None].tolist(), complete, begun)
        else:
            lost, doubled, foreign = _off(ids, complete, begun)
            more = {"lost": lost, "doubled": doubled}
            outcome, wrong = OVERLAPPED, f"{foreign} rows that nobody wrote" if foreign else None
        problem = {"problem": f"{about}: {wrong}"} if wrong else {}
        self._events.add("count", began, WRONG if wrong else outcome, **about, **more, **problem)


def settled(root: Path) -> State | None:
    """The newest version and the undone operations, equal if no exchange was between. None during an exchange."""
    try:
        names = [path.name for path in (root / "_zorder").iterdir()]
    except FileNotFoundError:
        return 0, frozenset()
    if any(name.endswith(".publishing") for name in names):
        return None
    versions = [int(found[1]) for name in names if (found := re.match(r"_v(\d+)(-\d+ms)?\.(json|vacuumed)", name))]
    return max(versions, default=0), frozenset(name for name in names if name.endswith(".undone"))


def _off(ids: Numbers, complete: frozenset[int], begun: frozenset[int]) -> tuple[int, int, int]:
    """Describe rows that are missing, doubled, or written by nobody."""
    unique = np.unique(ids)
    lost = len(np.setdiff1d(rows.ids_of(complete), unique))
    return lost, len(ids) - len(unique), len(np.setdiff1d(unique, rows.ids_of(begun | complete)))


class Appending(Loop):
    """Appends one batch after the other, each as a file that is complete when it gets its name."""

    def __init__(self, tables: Sequence[LoadTable], rng: Random, events: Events) -> None:
        self._tables, self._rng, self._events = tables, rng, events
        self._next = {table.name: max(table.ledger().begun()) + 2 for table in tables}

    def pause(self) -> float:
        return self._rng.uniform(0.3, 1.5)

    def step(self) -> None:
        table = self._rng.choice(self._tables)
        batch, began = self._next[table.name], time.time()
        self._next[table.name] += 2
        with table.ledger().appending(batch):
            table.append(batch)
        self._events.add("append", began, RIGHT, table=table.name)
