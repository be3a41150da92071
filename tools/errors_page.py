"""Makes docs/reference/errors.md: `python tools/errors_page.py`.

The messages and SQLSTATEs are those of the JVM code. `tools/error_causes.md` has their order, and what they do not say.
"""

from __future__ import annotations

import json
import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
CONDITIONS = ROOT / "jvm" / "src" / "main" / "resources" / "error" / "spark-zorder-error-conditions.json"
CAUSES = ROOT / "tools" / "error_causes.md"
PAGE = ROOT / "docs" / "reference" / "errors.md"

COLUMNS = 90

HEAD = """# Errors

Each error has a condition and an SQLSTATE. With Spark 3.5, ask `getErrorClass()` in place of
`getCondition()`.

<!-- table: flights -->
```python
from pyspark.errors import PySparkException

try:
    spark.sql("OPTIMIZE flights ZORDER BY (planet)")
except PySparkException as error:
    print(error.getCondition(), error.getSqlState(), error.getMessageParameters()["column"])
```

```text
ZORDER_COLUMN_NOT_FOUND 42703 `planet`
```

Names in `<..>` stand for what a message fills in. [The
guarantees](../guarantees.md#what-it-promises) name the errors after which rows may be visible
twice, and [one case](../guarantees.md#when-rows-may-be-wrong) in which another program loses a
file.
"""


@dataclass(frozen=True)
class Entry:
    """A row of the table: a condition, and what its message does not say."""

    condition: str
    more: str


@dataclass(frozen=True)
class Condition:
    """What the code says when it fails."""

    message: str
    state: str
    subs: dict[str, str]


def conditions(text: str) -> dict[str, Condition]:
    """The conditions of the resource file, by name."""

    def words(entry: dict[str, Any]) -> str:
        return " ".join(entry["message"])

    return {
        name: Condition(
            words(entry), entry["sqlState"], {sub: words(of) for sub, of in entry.get("subClass", {}).items()}
        )
        for name, entry in json.loads(text).items()
    }


def names(found: dict[str, Condition]) -> set[str]:
    """What can be thrown: a condition, or each of its sub-conditions."""
    return {
        full for name, of in found.items() for full in ([f"{name}.{sub}" for sub in of.subs] if of.subs else [name])
    }


def causes(text: str) -> dict[str, list[Entry]]:
    """The rows of the table, by heading."""
    groups: dict[str, list[Entry]] = {}
    heading = ""
    for line in text.splitlines():
        if line.startswith("## "):
            heading = line[3:]
        elif row := re.fullmatch(r"\| `(ZORDER_[A-Z0-9_.]+)` \|(.*)\|", line):
            groups.setdefault(heading, []).append(Entry(row[1], row[2].strip()))
    return groups


def page(found: dict[str, Condition], groups: dict[str, list[Entry]]) -> str:
    """The text of the page."""
    parts = [HEAD]
    for heading, rows in groups.items():
        parts.append(f"\n## {heading}\n")
        named = ""
        for row in rows:
            name, _, sub = row.condition.partition(".")
            condition = found[name]
            if sub and name != named:
                parts.append(f"\n### {name}\n\nSQLSTATE `{condition.state}`.\n\n{_quoted(condition.message)}")
            named = name
            state = "" if sub else f"SQLSTATE `{condition.state}`.\n\n"
            message = condition.subs[sub] if sub else condition.message
            more = textwrap.fill(row.more, 100, break_long_words=False, break_on_hyphens=False)
            parts.append(f"\n{'####' if sub else '###'} {row.condition}\n\n{state}{_quoted(message)}")
            if more:
                parts.append(f"\n{more}\n")
    return "".join(parts)


def _quoted(message: str) -> str:
    return f"```\n{textwrap.fill(message, COLUMNS, break_long_words=False, break_on_hyphens=False)}\n```\n"


def current() -> str:
    """The page as it should be now."""
    return page(conditions(CONDITIONS.read_text(encoding="utf-8")), causes(CAUSES.read_text(encoding="utf-8")))


if __name__ == "__main__":
    PAGE.write_text(current(), encoding="utf-8")
