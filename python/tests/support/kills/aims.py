"""When to kill: after a random pause, which may begin only when a process reaches a certain phase.

Spark's planning takes most of a statement's time, and files are exchanged for some milliseconds only. So many kills
wait for the risky phases.
"""

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from kills.target import Target


@dataclass(frozen=True)
class Aim:
    """A kind of kill. Times are multiples of a statement's time, which differs from machine to machine.

    Attributes:
        sought: The phase to wait for on a table, after which the kill comes soon. None to kill at any time.
        least: The shortest pause.
        longest: The longest pause. The logarithm of the pause is uniform, so short pauses are as likely as long ones.
        weight: How often it is drawn, relative to others.
        at_once: Whether to kill the first statement, which may find the remains of an earlier kill.
    """

    name: str
    sought: Callable[[Target, int], bool] | None
    least: float
    longest: float
    weight: int
    at_once: bool = False

    def pause(self, rng: Random) -> float:
        """The seconds from the phase to the kill."""
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
    return rng.choices(AIMS, weights=[aim.weight for aim in AIMS])[0]
