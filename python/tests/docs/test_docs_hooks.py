"""The hooks of the site: blocks become tabs, and names of errors become links."""

import importlib.util
from types import ModuleType, SimpleNamespace

import pytest
from conftest import REPOSITORY


@pytest.fixture(scope="module")
def hooks() -> ModuleType:
    """The hooks, which are no package's."""
    spec = importlib.util.spec_from_file_location("docs_hooks", REPOSITORY / "tools" / "docs_hooks.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def site(hooks: ModuleType, uri: str, text: str) -> tuple[str, dict[str, object]]:
    """The text of a page in the site, and what the page says about itself."""
    page = SimpleNamespace(file=SimpleNamespace(src_uri=uri), meta={})
    files = SimpleNamespace(get_file_from_path=lambda path: path)
    return hooks.on_page_markdown(text, page, None, files), page.meta


def test_blocks_of_two_languages_are_two_tabs_with_their_outputs(hooks: ModuleType) -> None:
    blocks = (
        "Before.\n\n<!-- tabs -->\n```sql\nA;\n```\n\n```sql\nB;\n```\n\n```text\nb\n```\n\n"
        "<!-- sql: C -->\n```python\nc()\n```\n<!-- /tabs -->\n\nAfter.\n"
    )
    assert site(hooks, "a.md", blocks)[0] == (
        'Before.\n\n=== "SQL"\n\n    ```sql\n    A;\n    ```\n\n    ```sql\n    B;\n    ```\n\n'
        "    ```text\n    b\n    ```\n\n"
        '=== "Python"\n\n    <!-- sql: C -->\n    ```python\n    c()\n    ```\n\n\nAfter.\n'
    )


def test_the_name_of_an_error_is_a_link_but_not_in_code_headings_and_links(hooks: ModuleType) -> None:
    text = "# `ZORDER_A`\n\n`ZORDER_A_B` and [`ZORDER_A`](x)\n\n```\n`ZORDER_A`\n```\n"
    assert site(hooks, "statements/a.md", text)[0] == (
        "# `ZORDER_A`\n\n[`ZORDER_A_B`](../reference/errors.md#zorder_a_b) and [`ZORDER_A`](x)\n\n"
        "```\n`ZORDER_A`\n```\n"
    )


def test_the_search_leaves_out_what_is_not_in_the_docs(hooks: ModuleType) -> None:
    assert site(hooks, "repository/bench/results/a.md", "")[1] == {"search": {"exclude": True}}
    assert site(hooks, "how-it-works.md", "")[1] == {}


def test_links_out_of_the_docs_stay_in_the_site(hooks: ModuleType) -> None:
    assert site(hooks, "design/a.md", "[b](../../CONTRIBUTING.md#c)")[0] == "[b](../repository/CONTRIBUTING.md#c)"
