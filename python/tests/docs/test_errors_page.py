"""docs/reference/errors.md is made of the messages in the code and of what these lack. `WRITE_DOCS=1` writes it."""

import os

from conftest import tool

PAGE = tool("errors_page")


def test_each_condition_has_one_row_and_each_row_a_condition() -> None:
    rows = [row.condition for group in PAGE.causes(PAGE.CAUSES.read_text()).values() for row in group]
    assert sorted(rows) == sorted(PAGE.names(PAGE.conditions(PAGE.CONDITIONS.read_text())))


def test_the_page_is_current() -> None:
    if os.environ.get("WRITE_DOCS"):
        PAGE.PAGE.write_text(PAGE.current())
    assert PAGE.PAGE.read_text() == PAGE.current(), "run this test with WRITE_DOCS=1"


def test_sub_conditions_have_headings_below_their_condition() -> None:
    found = PAGE.conditions(
        '{"ZORDER_A": {"message": ["No."], "sqlState": "1", "subClass": {"B": {"message": ["As <b>."]}}}}'
    )
    assert PAGE.names(found) == {"ZORDER_A.B"}
    groups = PAGE.causes("## G\n\n| Error | More |\n|---|---|\n| `ZORDER_A.B` | Do. |\n")
    text = PAGE.page(found, groups).removeprefix(PAGE.HEAD)
    assert text == (
        "\n## G\n\n### ZORDER_A\n\nSQLSTATE `1`.\n\n```\nNo.\n```\n\n#### ZORDER_A.B\n\n```\nAs <b>.\n```\n\nDo.\n"
    )


def test_a_condition_whose_message_says_all_needs_no_more() -> None:
    found = PAGE.conditions('{"ZORDER_A": {"message": ["No. Do."], "sqlState": "1"}}')
    groups = PAGE.causes("## G\n\n| Error | More |\n|---|---|\n| `ZORDER_A` | |\n")
    text = PAGE.page(found, groups).removeprefix(PAGE.HEAD)
    assert text == "\n## G\n\n### ZORDER_A\n\nSQLSTATE `1`.\n\n```\nNo. Do.\n```\n"
