"""The options of `OPTIMIZE` as Python lists them."""

from __future__ import annotations

import inspect
import re

from spark_zorder import OPTIMIZE_OPTIONS, ZOrderTable


def test_the_docstring_of_optimize_describes_every_option_in_the_words_of_the_reference_page() -> None:
    docstring = inspect.getdoc(ZOrderTable.optimize) or ""
    text = " ".join(docstring.split())
    for option in OPTIMIZE_OPTIONS:
        first_sentence = option.description.split(". ")[0].removesuffix(".")
        assert f"- `{option.key}`: {first_sentence}." in text
    assert re.findall(r"^\s*- `([a-z.-]+)`: ", docstring, re.MULTILINE) == [o.key for o in OPTIMIZE_OPTIONS]
