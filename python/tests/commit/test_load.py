"""Readers, appenders and statements on the same tables at once, and tests of the checks themselves. See `load`."""

import os
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest
from load import rows
from load.campaign import Campaign
from load.figures import figures, summary
from load.questions import Question, drawn
from load.rows import Numbers
from load.worker import APPENDER, COUNTER, MAINTAINER

SEED = os.environ.get("SEED", "20261123")
COMPLETE, BEGUN = frozenset({0, 2, 4}), frozenset({0, 2, 3, 4, 6})


def answer(question: Question, ids: Numbers) -> list[tuple[int, ...]]:
    """The answer of a query that finds these rows."""
    found = ids[question.mask(ids)]
    if question.shape == "rows":
        return [(int(i),) for i in found]
    if question.shape == "total":
        if not len(found):
            return [(0, None, None, None)]  # type: ignore[list-item]
        return [(len(found), int(found.sum()), int(rows.k_of(found).min()), int(rows.v_of(found).max()))]
    batches = rows.batch_of(found)
    parts = [(int(b), found[batches == b]) for b in np.unique(batches)]
    return [(b, len(part), int(part.sum()), int(rows.v_of(part).sum())) for b, part in parts]


def questions(shape: str) -> list[Question]:
    """Some questions of each kind whose answer has rows of the first batch."""
    rng = Random(1)
    many = (drawn(rng, COMPLETE, partitioned=False) for _ in range(2000))
    ids = rows.ids_of([0])
    return [q for q in many if q.shape == shape and q.mask(ids).sum() > 1]


@pytest.mark.parametrize("shape", ["rows", "groups", "total"])
def test_whole_batches_are_right(shape: str) -> None:
    assert len(questions(shape)) > 20
    for question in questions(shape):
        for batches in (COMPLETE, BEGUN, COMPLETE | {3}):
            found = answer(question, rows.ids_of(batches))
            assert question.wrong(found, COMPLETE, BEGUN) is None, question.condition


def lost(ids: Numbers, mask: Callable[[Numbers], Numbers]) -> Numbers:
    return np.delete(ids, np.flatnonzero(mask(ids))[0])


def doubled(ids: Numbers, mask: Callable[[Numbers], Numbers]) -> Numbers:
    return np.append(ids, ids[mask(ids)][0])


def without_a_batch(ids: Numbers, mask: Callable[[Numbers], Numbers]) -> Numbers:
    kept: Numbers = ids[rows.batch_of(ids) != 0]
    return kept


def with_a_batch_twice(ids: Numbers, mask: Callable[[Numbers], Numbers]) -> Numbers:
    return np.append(ids, rows.ids_of([0]))


def with_a_part_of_a_batch(ids: Numbers, mask: Callable[[Numbers], Numbers]) -> Numbers:
    own = rows.ids_of([6])
    return np.append(ids, own[mask(own)][1:])


@pytest.mark.parametrize("shape", ["rows", "groups", "total"])
@pytest.mark.parametrize("change", [lost, doubled, without_a_batch, with_a_batch_twice, with_a_part_of_a_batch])
def test_other_rows_are_wrong(shape: str, change: Callable[..., Numbers]) -> None:
    tried = 0
    for question in questions(shape):
        changed = change(rows.ids_of(COMPLETE), question.mask)
        if len(changed) != len(rows.ids_of(COMPLETE)) and question.mask(rows.ids_of([6])).sum() > 1:
            tried += 1
            assert question.wrong(answer(question, changed), COMPLETE, BEGUN) is not None, question.condition
    assert tried > 5


@pytest.mark.parametrize("shape", ["rows", "groups"])
def test_a_batch_that_nobody_began_is_wrong(shape: str) -> None:
    for question in questions(shape):
        found = answer(question, rows.ids_of(COMPLETE | {8}))
        if question.mask(rows.ids_of([8])).any():
            assert question.wrong(found, COMPLETE, BEGUN) is not None


@pytest.mark.test_all
def test_answers_are_right_under_load(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    # One process with Spark instead of two.
    roles = (MAINTAINER, APPENDER, COUNTER)
    result = Campaign(tmp_path, SEED, print, roles, warm=10).run(warming=5, seconds=15)
    assert result.problems == []
    happened = {event["what"] for event in result.happened}
    assert happened == {"query", "statement", "append", "count"}
    assert "queries beside an exchange of their table: " in figures(result)
    with capsys.disabled():
        print(f"\n{summary(result)}")
