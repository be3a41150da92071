"""When to kill a process on S3: at one of its requests, which the proxy sees."""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from s3_server import Request


@dataclass(frozen=True)
class S3Aim:
    """A kind of kill: at one of the requests that are sought, from the `least` to the `most`, drawn by its weight."""

    name: str
    sought: Callable[[Request], bool]
    most: int
    weight: int
    least: int = 1


def _is(what: str, part: str = "") -> Callable[[Request], bool]:
    return lambda request: request.what == what and part in request.key


AIMS = (
    S3Aim("any request", lambda _: True, 500, 3, least=50),
    S3Aim("a lock", _is("put", "/_lock-"), 6, 1),
    S3Aim("a marker", _is("put", "/_exchange"), 10, 4),
    S3Aim("an upload", _is("part"), 12, 2),
    S3Aim("a copy", _is("copy"), 12, 2),
    S3Aim("a record", _is("put", ".publishing"), 4, 3),
    S3Aim("a completion", _is("complete"), 12, 6),
    S3Aim("a delete of a file", lambda r: r.what == "delete" and r.key.endswith(".parquet"), 20, 6),
    S3Aim("a delete of a marker", lambda r: r.what == "delete" and r.key.endswith("/_exchange"), 6, 2),
    S3Aim("an abort", _is("abort"), 2, 1),
    S3Aim("the history", lambda r: r.what == "put" and "/_v" in r.key and r.key.endswith(".json"), 4, 3),
    S3Aim("the end of a record", lambda r: r.what == "delete" and r.key.endswith(".publishing"), 3, 2),
    S3Aim("many deletes", _is("bulk-delete"), 6, 2),
)

WAYS = ("lost", "on its way", "done")
"""What becomes of the request: it never arrives, it takes effect after the death, or its answer comes before."""


def drawn(rng: Random) -> tuple[S3Aim, int, str, float]:
    """Draw an aim, which of its requests it is, what becomes of that, and seconds from there to the kill."""
    aim = rng.choices(AIMS, weights=[aim.weight for aim in AIMS])[0]
    way = rng.choice(WAYS)
    return aim, rng.randint(aim.least, aim.most), way, rng.choice((0.0, 0.002, 0.01, 0.05)) if way == "done" else 0.0
