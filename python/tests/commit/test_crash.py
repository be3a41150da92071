"""A process killed anywhere in OPTIMIZE loses and doubles no row, and the next statement cleans up.

Steps stop many statements of one process, each on its own table. Then it is killed: a hundred crashes need three JVMs.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from rival import Rival
from small_tables import ROWS, SmallTable, once, write_file

pytestmark = pytest.mark.older_sparks

ROLLED_BACK = (
    "after-lock",
    "after-manifest",
    "after-stage-folders",
    "after-staging",
    "after-staging-all",
    "before-commit-point",
)
MOMENT = ("reveal-1", "decided", "retire-1")
"""During the exchange of files. Before and after it every reader sees each row once."""
PUBLISHED = ("before-record-done", "after-record-done", "after-clean", "before-unlock", "after-unlock")
FORWARD = (*ROLLED_BACK, "after-commit-point", *MOMENT, *PUBLISHED)

UNDO = ("undo:decided", "undo:drop-1", "undo:before-record-done", "undo:before-unlock")
"""After another program took the name of an output of an OPTIMIZE past its commit point. That folder stays."""

AGAIN = (
    ("after-staging-all", "after-lock"),
    ("after-staging-all", "recovered"),
    ("after-commit-point", "reveal-1"),
    ("reveal-1", "decided"),
    ("decided", "retire-1"),
    ("retire-1", "before-record-done"),
    ("retire-1", "recovered"),
    ("undo:decided", "drop-1"),
    ("undo:drop-1", "before-record-done"),
)
"""Where the operation dies, and where the query that recovers it dies."""

KINDS = (False, True)
STEPS = [
    pytest.param(died, partitioned, marks=[] if (n + partitioned) % 2 == 0 else pytest.mark.test_all)
    for n, died in enumerate(FORWARD + UNDO)
    for partitioned in KINDS
]
"""Every step of the commit is in `make test`, by turns in a table with partitions and in one without."""


def sampled(steps: tuple[Any, ...], every: int) -> list[Any]:
    """Each of these steps is a parameter. `make test` takes one of so many."""
    return [pytest.param(step, marks=[] if n % every == 0 else pytest.mark.test_all) for n, step in enumerate(steps)]


STATEMENTS = ("SELECT", "OPTIMIZE", "HISTORY")


def kind(partitioned: bool) -> str:
    return "partitioned" if partitioned else "flat"


@dataclass(frozen=True)
class Case:
    """A table that a process died on, and the rows that it must have at the end."""

    table: SmallTable
    died: str
    ids: frozenset[int]

    @property
    def committed(self) -> bool:
        """Whether the operation takes effect, if only in one of two folders."""
        return self.died not in ROLLED_BACK and (self.died not in UNDO or self.table.partitioned)

    def assert_plain(self) -> None:
        """The rows that a reader without the extension may see where the process died: none is missing."""
        found = self.table.plain_ids()
        assert set(found) == self.ids
        assert max(found.values()) <= (2 if self.died in (*MOMENT, *UNDO[:2]) else 1)


def started(rival: Rival, root: Path, died: str, partitioned: bool) -> Case:
    """A table with an OPTIMIZE of the rival that has stopped at a step."""
    table = SmallTable.write(root, partitioned)
    if died in FORWARD:
        rival.pause(table.optimize, died)
        return Case(table, died, frozenset(table.ids))
    running = rival.pause(table.optimize, "after-commit-point")
    # A file with the name of an output.
    outputs = [root / o["path"] for o in table.record()["outputs"]]
    taken = next(o for o in outputs if o.parent == outputs[-1].parent)
    new = write_file(taken, range(1000, 1000 + ROWS + 1))
    rival.next_pause(running, died.removeprefix("undo:"))
    return Case(table, died, frozenset(table.ids | new))


@dataclass(frozen=True)
class Crashes:
    """All tables that a process died on, once and twice."""

    once: dict[tuple[str, bool], Case]
    again: dict[tuple[str, str], Case]


@pytest.fixture(scope="module")
def crashes(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Crashes:
    """A table for each of the tests that were selected."""
    selected = [item for item in request.session.items if isinstance(item, pytest.Function)]

    def steps(test: Callable[..., None], *names: str) -> list[tuple[Any, ...]]:
        of_test = [item.callspec.params for item in selected if item.function is test]
        return [tuple(params[name] for name in names) for params in of_test]

    base = tmp_path_factory.mktemp("crash")
    first = Rival(base / "first")
    try:
        single = {
            (died, p): started(first, base / kind(p) / died, died, p)
            for died, p in steps(test_one_statement_recovers_what_a_killed_process_left, "died", "partitioned")
        }
        double = {
            (died, recovery): started(first, base / died / recovery, died, True)
            for ((died, recovery),) in steps(test_a_recovery_may_die_as_well, "twice")
        }
    finally:
        first.kill()
    second = Rival(base / "second")
    try:
        for (_, recovery), case in double.items():
            second.pause(f"SELECT id FROM {case.table.source}", recovery)
    finally:
        second.kill()
    return Crashes(single, double)


def run(spark: SparkSession, case: Case, statement: str) -> None:
    """Run one statement, and ignore its outcome."""
    table = case.table
    if statement == "SELECT":
        assert table.spark_ids(spark) == once(case.ids)
    elif statement == "OPTIMIZE":
        spark.sql(table.optimize)
    else:
        history = spark.sql(f"DESCRIBE HISTORY {table.source}").collect()
        assert [row["version"] for row in history] == ([1] if case.committed else [])


def assert_recovered(spark: SparkSession, case: Case, statement: str) -> None:
    run(spark, case, statement)
    table = case.table
    # An OPTIMIZE that finds the dead one's work done has nothing to do.
    versions = 1 if case.committed or statement == "OPTIMIZE" else 0
    assert table.leftovers(versions) == []
    assert table.plain_ids() == once(case.ids)
    assert table.spark_ids(spark) == once(case.ids)
    exchanged = len(table.folders) * (1 if versions else 0)
    others = 0
    if case.died in UNDO:
        exchanged, others = len(table.folders) - 1, 1
    assert len(table.files()) == 2 * exchanged + 3 * (len(table.folders) - exchanged) + others
    assert len(list(table.root.rglob("*.retired"))) == 3 * exchanged


@pytest.mark.test_rest
@pytest.mark.parametrize(("died", "partitioned"), STEPS, ids=lambda v: v if isinstance(v, str) else kind(v))
def test_one_statement_recovers_what_a_killed_process_left(
    spark: SparkSession, crashes: Crashes, died: str, partitioned: bool
) -> None:
    case = crashes.once[died, partitioned]
    case.assert_plain()
    turn = (FORWARD + UNDO).index(died) + partitioned
    assert_recovered(spark, case, STATEMENTS[turn % 3] if died in FORWARD else "SELECT")


@pytest.mark.test_rest
@pytest.mark.parametrize("twice", sampled(AGAIN, every=4), ids="-then-".join)
def test_a_recovery_may_die_as_well(spark: SparkSession, crashes: Crashes, twice: tuple[str, str]) -> None:
    assert_recovered(spark, crashes.again[twice], "SELECT")
