"""Writes the page of figures."""

import os
import statistics
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from load.campaign import Result
from load.events import RIGHT, WRONG
from load.failures import DOCUMENTED
from load.leaks import total
from load.rows import BATCH

Event = dict[str, Any]


def summary(result: Result) -> str:
    happened = _of_load(result)
    queries, counts = _of("query", happened), _of("count", happened)
    wrong = sum(event["outcome"] == WRONG for event in happened)
    return (
        f"seed {result.seed}: {len(queries)} queries and {len(counts)} independent counts, {wrong} wrong, "
        f"{len(_of('statement', happened))} statements, {len(result.problems)} problems, {len(result.leaks)} leaks, "
        f"{result.ended - result.began:.0f} seconds"
    )


def page(result: Result, date: str, spark: str) -> str:
    happened = _of_load(result)
    queries, counts, statements = (_of(what, happened) for what in ("query", "count", "statement"))
    appended, inserted = _of("append", happened), [s for s in statements if s["kind"] == "INSERT" and _right(s)]
    done = Counter(s["kind"] for s in statements if _right(s))
    optimized = sum(n for kind, n in done.items() if kind.startswith("OPTIMIZE"))
    answered = [q for q in queries if _right(q)]
    seconds = result.ended - result.began
    lines = [
        f"# Load, {date}",
        "",
        f"`make load SECONDS={seconds:.0f} SEED={result.seed}`, Spark {spark}, {os.cpu_count()} cores.",
        "Two processes with the extension (`local[2]`, a heap of 1 GB) have twelve readers and the statements. One",
        "process appends files, and one counts rows by pyarrow and DuckDB. All work on the same three tables.",
        "",
        *_table(
            ("", "number"),
            [
                ("answered queries", len(answered)),
                ("of them wrong", sum(q["outcome"] == WRONG for q in queries)),
                ("independent counts", len(counts)),
                ("of them wrong", sum(c["outcome"] == WRONG for c in counts)),
                ("OPTIMIZE that ended well", optimized),
                ("RESTORE that ended well", done["RESTORE"]),
                ("VACUUM that ended well", done["VACUUM"]),
                ("exchanges of files", sum(len(e) for e in result.exchanges.values())),
                ("rows appended by files", len(appended) * BATCH),
                ("rows appended by INSERT", len(inserted) * BATCH),
                ("undocumented failures, and leftovers", _other_problems(result)),
                ("leaks", len(result.leaks)),
            ],
        ),
        "",
        "## Queries by the way the table is named",
        "",
        *_table(
            ("way", "answers", "failed as documented", "answered when run again", "p50 ms", "p95 ms", "max ms"),
            [_way(way, [q for q in queries if q["way"] == way]) for way in sorted({q["way"] for q in queries})],
        ),
        "",
        "## Answer times during an exchange",
        "",
        *_table(
            ("during the query", "answers", "p50 ms", "p95 ms", "max ms"),
            [
                ("no file of its table was exchanged", *_times(q for q in answered if not _beside(q, result))),
                ("files of its table were exchanged", *_times(q for q in answered if _beside(q, result))),
            ],
        ),
        "",
        f"An exchange took {_exchange_times(result)}.",
        "",
        "## Statements",
        "",
        *_table(
            ("statement", "ended well", "failed as documented", "p50 ms", "p95 ms", "max ms"),
            [_statement(kind, statements) for kind in sorted({s["kind"] for s in statements})],
        ),
        "",
        "## Documented failures",
        "",
        *_table(
            ("of", "condition", "number", "meaning"),
            [
                (what, f"`{outcome}`", n, DOCUMENTED[outcome])
                for (what, outcome), n in sorted(Counter((e["what"], e["outcome"]) for e in happened).items())
                if outcome in DOCUMENTED
            ],
        ),
        "",
        "## Independent counts",
        "",
        *_table(
            ("reader", "right", "during an exchange", "of them with missing rows", "with doubled rows", "files gone"),
            [_count(way, counts) for way in sorted({c["way"] for c in counts})],
        ),
        "",
        "## Resources of the processes, before and after",
        "",
        *_table(
            ("process", "threads", "open files", "deleted files open", "files of tables open", "live heap, MiB"),
            [_held(role, result) for role in result.last],
        ),
    ]
    if result.problems or result.leaks:
        lines += ["", "## Problems", "", *(f"- {_line(problem)}" for problem in result.problems + result.leaks)]
    return "\n".join(lines) + "\n"


def _of_load(result: Result) -> list[Event]:
    return [event for event in result.happened if event["began"] >= result.began]


def _of(what: str, happened: Iterable[Event]) -> list[Event]:
    return [event for event in happened if event["what"] == what]


def _right(event: Event) -> bool:
    return bool(event["outcome"] == RIGHT)


def _other_problems(result: Result) -> int:
    return len(result.problems) - len([event for event in result.happened if event["outcome"] == WRONG])


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> list[str]:
    cells = [[f"{cell:,}" if isinstance(cell, int) else str(cell) for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in (head, ["---"] * len(head), *cells)]


def _millis(event: Event) -> float:
    return float(event.get("answered", event["ended"]) - event["began"]) * 1000


def _times(events: Iterable[Event]) -> tuple[int, str, str, str]:
    millis = sorted(map(_millis, events))
    if len(millis) < 2:
        return len(millis), "-", "-", f"{millis[0]:.0f}" if millis else "-"
    cuts = statistics.quantiles(millis, n=20, method="inclusive")
    return len(millis), f"{cuts[9]:.0f}", f"{cuts[18]:.0f}", f"{millis[-1]:.0f}"


def _way(way: str, queries: list[Event]) -> tuple[object, ...]:
    answers, *times = _times(q for q in queries if _right(q))
    failed = sum(q["outcome"] in DOCUMENTED for q in queries)
    return way, answers, failed, sum(q.get("again", 0) > 0 and _right(q) for q in queries), *times


def _beside(query: Event, result: Result) -> bool:
    last = float(query.get("answered", query["ended"]) or 0)
    return any(began <= last and query["began"] <= ended for began, ended in result.exchanges[query["table"]])


def _exchange_times(result: Result) -> str:
    millis = sorted(1000 * (end - began) for took in result.exchanges.values() for began, end in took)
    return f"{statistics.median(millis):.0f} ms in the median and {millis[-1]:.0f} ms at most" if millis else "no time"


def _statement(kind: str, statements: list[Event]) -> tuple[object, ...]:
    own = [s for s in statements if s["kind"] == kind]
    well, *times = _times(s for s in own if _right(s))
    return kind, well, sum(s["outcome"] in DOCUMENTED for s in own), *times


def _count(way: str, counts: list[Event]) -> tuple[object, ...]:
    own = [c for c in counts if c["way"] == way]
    beside = [c for c in own if "lost" in c]
    missing, doubled = (sum(c[what] > 0 for c in beside) for what in ("lost", "doubled"))
    return way, sum(map(_right, own)), len(beside), missing, doubled, len(own) - sum(map(_right, own)) - len(beside)


def _held(role: str, result: Result) -> tuple[str, ...]:
    first, last = result.first[role], result.last[role]

    def both(what: Any) -> str:
        return f"{what(first)}, {what(last)}"

    heap = both(lambda held: f"{held['heap'] / 2**20:.0f}") if "heap" in first else "-"
    return (
        role,
        both(total) if "threads" in first else "-",
        both(lambda held: held["files"]),
        both(lambda held: len(held["deleted"])),
        both(lambda held: len(held["of tables"])),
        heap,
    )


def _line(text: str) -> str:
    return " ".join(text.split())[:1000]
