"""The page of troubleshooting has a row for each error class."""

from __future__ import annotations

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
CONDITIONS = ROOT / "jvm/src/main/resources/error/spark-zorder-error-conditions.json"
PAGE = ROOT / "docs/troubleshooting.md"


def test_each_error_has_a_row_and_each_row_an_error() -> None:
    errors = set(json.loads(CONDITIONS.read_text(encoding="utf-8")))
    rows = PAGE.read_text(encoding="utf-8").split("## All errors")[1]
    named = {name for line in rows.splitlines() for name in re.findall(r"ZORDER_[A-Z_]+", line.split(" | ")[0])}

    assert named - {"ZORDER_"} == errors
