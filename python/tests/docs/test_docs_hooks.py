"""The hooks of the site: blocks become tabs, and names of errors become links."""

from types import SimpleNamespace

from conftest import tool

HOOKS = tool("docs_hooks")


def site(uri: str, text: str) -> tuple[str, dict[str, object]]:
    """The text of a page in the site, and what the page says about itself."""
    page = SimpleNamespace(file=SimpleNamespace(src_uri=uri), meta={})
    files = SimpleNamespace(get_file_from_path=lambda path: path)
    return HOOKS.on_page_markdown(text, page, None, files), page.meta


def test_blocks_of_two_languages_are_two_tabs_with_their_outputs() -> None:
    blocks = (
        "Before.\n\n<!-- tabs -->\n```sql\nA;\n```\n\n```sql\nB;\n```\n\n```text\nb\n```\n\n"
        "<!-- table: c -->\n```python\nc()\n```\n<!-- /tabs -->\n\nAfter.\n"
    )
    assert site("a.md", blocks)[0] == (
        'Before.\n\n=== "SQL"\n\n    ```sql\n    A;\n    ```\n\n    ```sql\n    B;\n    ```\n\n'
        "    ```text\n    b\n    ```\n\n"
        '=== "Python"\n\n    <!-- table: c -->\n    ```python\n    c()\n    ```\n\n\nAfter.\n'
    )


def test_the_name_of_an_error_is_a_link_but_not_in_code_headings_and_links() -> None:
    text = "# `ZORDER_A`\n\n`ZORDER_A_B` and [`ZORDER_A`](x)\n\n```\n`ZORDER_A`\n```\n"
    assert site("statements/a.md", text)[0] == (
        "# `ZORDER_A`\n\n[`ZORDER_A_B`](../reference/errors.md#zorder_a_b) and [`ZORDER_A`](x)\n\n"
        "```\n`ZORDER_A`\n```\n"
    )


def test_the_search_leaves_out_what_is_not_in_the_docs() -> None:
    assert site("repository/bench/results/a.md", "")[1] == {"search": {"exclude": True}}
    assert site("how-it-works.md", "")[1] == {}


def test_links_out_of_the_docs_stay_in_the_site() -> None:
    assert site("design/a.md", "[b](../../CONTRIBUTING.md#c)")[0] == "[b](../repository/CONTRIBUTING.md#c)"
