"""The results of a part: figures, checks of targets, and how the time was spent."""

from __future__ import annotations

import dataclasses
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True)
class Figure:
    """One measured quantity for several engines, with all values.

    Args:
        name: what was measured
        unit: the unit of the values
        values: by engine, ours first
        more_is_better: true for rates, false for times and sizes
        compared: whether ratios to the first engine mean anything
    """

    name: str
    unit: str
    values: dict[str, list[float]]
    more_is_better: bool = False
    compared: bool = True

    def median(self, engine: str) -> float:
        """The median of an engine's values."""
        return statistics.median(self.values[engine])

    def ratio(self, engine: str, to: str) -> float:
        """The ratio of two medians."""
        return self.median(engine) / self.median(to)


@dataclass(frozen=True)
class Check:
    """A target, and whether it is met."""

    what: str
    value: float
    limit: float
    at_least: bool = False

    @property
    def met(self) -> bool:
        """Whether the target is met."""
        return self.value >= self.limit if self.at_least else self.value <= self.limit


@dataclass(frozen=True)
class Curve:
    """How a quantity grows.

    Args:
        axis: what the sizes count; curves of one axis are panels of one picture
        panel: the title of this panel, may be empty
        unit: the unit of the values
        sizes: in ascending order
        lines: all values at each of the sizes, by name
    """

    axis: str
    panel: str
    unit: str
    sizes: list[int]
    lines: dict[str, list[list[float]]]


@dataclass
class Part:
    """The results of one part."""

    name: str
    title: str
    settings: dict[str, str] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    checks: list[Check] = field(default_factory=list)
    where: list[str] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The part as plain data, with medians and spread for readers of the file."""
        plain = dataclasses.asdict(self)
        for figure, of in zip(plain["figures"], self.figures, strict=True):
            figure["summary"] = {engine: summary(values) for engine, values in of.values.items()}
        for check, line in zip(plain["checks"], self.checks, strict=True):
            check["met"] = line.met
        return plain

    @staticmethod
    def of_json(plain: Mapping[str, Any]) -> Part:
        """Make a part from plain data."""

        def made(kind: type[Any], rows: Sequence[Mapping[str, Any]]) -> list[Any]:
            names = {f.name for f in dataclasses.fields(kind)}
            return [kind(**{k: v for k, v in row.items() if k in names}) for row in rows]

        return Part(
            plain["name"],
            plain["title"],
            dict(plain["settings"]),
            made(Figure, plain["figures"]),
            made(Check, plain["checks"]),
            list(plain["where"]),
            made(Curve, plain.get("curves", [])),
        )


def summary(values: Sequence[float]) -> dict[str, float]:
    """The median with its extremes."""
    return {"median": statistics.median(values), "min": min(values), "max": max(values), "n": len(values)}
