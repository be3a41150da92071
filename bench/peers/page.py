"""Writes the results as a page of Markdown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from peers.results import summary

if TYPE_CHECKING:
    from collections.abc import Sequence

    from peers.results import Check, Figure, Part


def page(date: str, machine: dict[str, str], parts: Sequence[Part], pictures: Sequence[str]) -> str:
    """List the targets first, then each part with its settings and how it spends its time."""
    lines = [f"# Comparison with the peers, {date}", "", *(f"- {k}: {v}" for k, v in machine.items()), ""]
    checks = [check for part in parts for check in part.checks]
    met = sum(check.met for check in checks)
    lines += [f"Medians, with the extremes in brackets. {met} of {len(checks)} targets are met.", ""]
    lines += ["| figure | value | target | |", "|---|---|---|---|", *map(_check, checks)]
    for picture in pictures:
        lines += ["", f"![{picture}]({picture})"]
    for part in parts:
        lines += ["", f"## {part.title}", "", *(f"- {k}: {v}" for k, v in part.settings.items())]
        for figure in part.figures:
            lines += ["", *_figure(figure)]
        if part.where:
            lines += ["", "Where the time goes:", "", *(f"- {line}" for line in part.where)]
    return "\n".join([*lines, ""])


def _check(c: Check) -> str:
    sign = ">=" if c.at_least else "<="
    return f"| {c.what} | {number(c.value)} | {sign} {c.limit:g} | {'met' if c.met else '**not met**'} |"


def _figure(figure: Figure) -> list[str]:
    """Format a figure. Ratios are to the first engine, which is ours."""
    first = next(iter(figure.values))
    ratio = f" over {first} |" if figure.compared else ""
    lines = [f"| {figure.name}, {figure.unit} | median |{ratio}", "|---|---|" + ("---|" if ratio else "")]
    for engine in figure.values:
        s = summary(figure.values[engine])
        spread = f" ({number(s['min'])} to {number(s['max'])})" if s["n"] > 1 else ""
        # A clock that counts milliseconds may give 0.
        over = f"{figure.ratio(engine, first):.2f}" if figure.median(first) else "-"
        last = f" {over} |" if figure.compared else ""
        lines.append(f"| {engine} | {number(s['median'])}{spread} |{last}")
    return lines


def number(value: float) -> str:
    """Format a number with three significant digits."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
