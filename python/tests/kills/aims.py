"""When to kill: a pause, or what to wait for and a pause after it, both of them random.

Most of a statement's time is Spark's planning, and files change hands for some milliseconds of it. So many kills seek
the vicinity of what may go wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from kills.target import Target


@dataclass(frozen=True)
class Aim:
    """A kind of kill. Times are in lengths of a statement, which differ from machine to machine.

    Attributes:
        sought: None to kill at any time; else what a process has to be at on a table, and then the kill comes soon.
        least: The shortest pause.
        longest: The longest one. Short pauses are as likely as long ones: their logarithm is uniform.
        weight: How often, beside others.
        at_once: Whether the first statement is meant, which may find what an earlier kill left.
    """

    name: str
    sought: Callable[[Target, int], bool] | None
    least: float
    longest: float
    weight: int
    at_once: bool = False

    def pause(self, rng: Random) -> float:
        """How long from what was sought to the kill."""
        return float(self.least * (self.longest / self.least) ** rng.random())


def _of(*operations: str) -> Callable[[Target, int], bool]:
    return lambda target, pid: target.has(pid, operations)


AIMS = (
    Aim("any time", None, 0.3, 4.0, 3),
    Aim("the first statement", None, 0.02, 3.0, 2, at_once=True),
    Aim("a recovery", _of("RECOVER"), 0.0001, 0.005, 4, at_once=True),
    Aim("the writing", lambda target, _: target.is_writing, 0.001, 0.5, 2),
    Aim("the exchange", lambda target, _: target.is_exchanging, 0.0001, 0.02, 5),
    Aim("an OPTIMIZE", _of("OPTIMIZE"), 0.001, 1.0, 2),
    Aim("a RESTORE", _of("RESTORE"), 0.0002, 0.1, 4),
    Aim("a VACUUM", _of("VACUUM"), 0.0002, 0.05, 3),
    Aim("an index", _of("CREATE SKIPPING INDEX", "REFRESH SKIPPING INDEX", "DROP SKIPPING INDEX"), 0.0002, 0.1, 2),
)


def drawn(rng: Random) -> Aim:
    """One of them."""
    return rng.choices(AIMS, weights=[aim.weight for aim in AIMS])[0]
