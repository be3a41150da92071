"""The figures of a load in words."""

import statistics
from collections import Counter
from collections.abc import Iterable
from typing import Any

from load.campaign import Result
from load.events import RIGHT, WRONG
from load.failures import DOCUMENTED

Event = dict[str, Any]


def summary(result: Result) -> str:
    """The figures in a line."""
    happened = _of_load(result)
    number = Counter(event["what"] for event in happened)
    wrong = sum(event["outcome"] == WRONG for event in happened)
    return (
        f"seed {result.seed}: {number['query']} queries and {number['count']} independent counts, {wrong} wrong, "
        f"{number['statement']} statements, {len(result.problems)} problems, {len(result.leaks)} leaks, "
        f"{result.ended - result.began:.0f} seconds"
    )


def figures(result: Result) -> str:
    """How often each event came to which end, what failed as documented, and how long queries and exchanges took."""
    happened = _of_load(result)
    ends = Counter((e["what"], e.get("way", e.get("kind", e.get("table"))), e["outcome"]) for e in happened)
    lines = [f"{n:7,}  {what}, {how}: {outcome}" for (what, how, outcome), n in sorted(ends.items())]
    lines += [f"{name}: {DOCUMENTED[name]}" for name in sorted({end for *_, end in ends} & DOCUMENTED.keys())]
    answered = [e for e in happened if e["what"] == "query" and e["outcome"] == RIGHT]
    for is_beside, when in ((False, "without an exchange"), (True, "beside an exchange of their table")):
        lines.append(f"queries {when}: {_times(e for e in answered if _is_beside(e, result) == is_beside)}")
    exchanges = [{"began": began, "ended": ended} for took in result.exchanges.values() for began, ended in took]
    return "\n".join([*lines, f"exchanges of files: {_times(exchanges)}"])


def _of_load(result: Result) -> list[Event]:
    return [event for event in result.happened if event["began"] >= result.began]


def _end(event: Event) -> float:
    return float(event.get("answered") or event["ended"])


def _is_beside(query: Event, result: Result) -> bool:
    exchanges = result.exchanges[query["table"]]
    return any(began <= _end(query) and query["began"] <= ended for began, ended in exchanges)


def _times(events: Iterable[Event]) -> str:
    millis = sorted((_end(event) - event["began"]) * 1000 for event in events)
    if len(millis) < 2:
        return f"{len(millis)}"
    cuts = statistics.quantiles(millis, n=20, method="inclusive")
    return f"{len(millis):,}, p50 {cuts[9]:.0f} ms, p95 {cuts[18]:.0f} ms, {millis[-1]:.0f} ms at most"
