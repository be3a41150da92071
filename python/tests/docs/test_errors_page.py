"""docs/reference/errors.md is made of the messages in the code and of what these lack. `WRITE_DOCS=1` writes it."""

from __future__ import annotations

import importlib.util
import os
import sys
from types import ModuleType

import pytest
from conftest import REPOSITORY


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    """The tool, which is no package's."""
    spec = importlib.util.spec_from_file_location("errors_page", REPOSITORY / "tools" / "errors_page.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["errors_page"] = module
    spec.loader.exec_module(module)
    return module


def test_each_condition_has_one_row_and_each_row_a_condition(tool: ModuleType) -> None:
    rows = [row.condition for group in tool.causes(tool.CAUSES.read_text()).values() for row in group]
    assert sorted(rows) == sorted(tool.names(tool.conditions(tool.CONDITIONS.read_text())))


def test_the_page_is_current(tool: ModuleType) -> None:
    if os.environ.get("WRITE_DOCS"):
        tool.PAGE.write_text(tool.current())
    assert tool.PAGE.read_text() == tool.current(), "run this test with WRITE_DOCS=1"


def test_sub_conditions_have_headings_below_their_condition(tool: ModuleType) -> None:
    found = tool.conditions(
        '{"ZORDER_A": {"message": ["No."], "sqlState": "1", "subClass": {"B": {"message": ["As <b>."]}}}}'
    )
    assert tool.names(found) == {"ZORDER_A.B"}
    groups = tool.causes("## G\n\n| Error | More |\n|---|---|\n| `ZORDER_A.B` | Do. |\n")
    text = tool.page(found, groups).removeprefix(tool.HEAD)
    assert text == (
        "\n## G\n\n### ZORDER_A\n\nSQLSTATE `1`.\n\n```\nNo.\n```\n\n#### ZORDER_A.B\n\n```\nAs <b>.\n```\n\nDo.\n"
    )


def test_a_condition_whose_message_says_all_needs_no_more(tool: ModuleType) -> None:
    found = tool.conditions('{"ZORDER_A": {"message": ["No. Do."], "sqlState": "1"}}')
    groups = tool.causes("## G\n\n| Error | More |\n|---|---|\n| `ZORDER_A` | |\n")
    text = tool.page(found, groups).removeprefix(tool.HEAD)
    assert text == "\n## G\n\n### ZORDER_A\n\nSQLSTATE `1`.\n\n```\nNo. Do.\n```\n"
