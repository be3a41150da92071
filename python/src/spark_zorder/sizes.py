"""Sizes in words."""

from __future__ import annotations


def size_text(number: int) -> str:
    """Format a number of bytes for people: `1.2 GiB`."""
    value = float(number)
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if value < 1024:
            return f"{value:.0f} {unit}" if unit == "bytes" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.1f} TiB"
