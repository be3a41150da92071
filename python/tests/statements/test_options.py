"""The options of `OPTIMIZE` as Python lists them, and the arguments of `ZOrderTable.optimize` that set some of them."""

import inspect
import re
from pathlib import Path
from typing import get_type_hints

import pytest
from conftest import REPOSITORY
from pyspark.sql import SparkSession

from spark_zorder import OPTIMIZE_OPTIONS, ZOrderTable
from spark_zorder.optimize_sql import OPTION_KEYWORDS
from spark_zorder.options import OptimizeOptions

OPTIONS = {option.key: option for option in OPTIMIZE_OPTIONS}

# What an argument takes, by the type that the table of options gives to its option.
TYPES = {"whole number": "int", "size": "int | str", "word": "str", "boolean": "bool", "column names": "str"}

CLAUSES = ["zorder_by", "hilbert_by", "order_by", "auto", "joins", "where", "full", "dry_run", "options"]


def first_sentence(key: str) -> str:
    """The first sentence of an option's description, without its end."""
    return OPTIONS[key].description.split(". ")[0].removesuffix(".")


def test_the_docstring_of_optimize_describes_every_option_in_the_words_of_the_reference_page() -> None:
    docstring = inspect.getdoc(ZOrderTable.optimize) or ""
    text = " ".join(docstring.split())
    listed = re.findall(r"^\s*- `([a-z.-]+)`: ", docstring, re.MULTILINE)
    assert listed == [key for key in OPTIONS if key not in OPTION_KEYWORDS.values()]
    for key in listed:
        assert f"- `{key}`: {first_sentence(key)}." in text
    for keyword, key in OPTION_KEYWORDS.items():
        assert re.search(rf"\b{keyword}: {re.escape(first_sentence(key))}[.,]", text), keyword


@pytest.mark.parametrize("keyword", OPTION_KEYWORDS)
def test_an_argument_sets_an_option_that_there_is_and_takes_its_type(keyword: str) -> None:
    option = OPTIONS[OPTION_KEYWORDS[keyword]]
    parameter = inspect.signature(ZOrderTable.optimize).parameters[keyword]
    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert parameter.default is None
    assert parameter.annotation == f"{TYPES[option.type]} | None"
    # Only a unit is left out of the name.
    assert keyword == option.key.removesuffix("-bytes").replace("-", "_")


def test_every_argument_is_a_clause_or_an_option() -> None:
    parameters = [name for name in inspect.signature(ZOrderTable.optimize).parameters if name != "self"]
    assert sorted(parameters) == sorted([*CLAUSES, *OPTION_KEYWORDS])


def test_the_typed_keys_of_options_are_those_of_the_table() -> None:
    hints = get_type_hints(OptimizeOptions)
    assert list(hints) == list(OPTIONS)
    assert OptimizeOptions.__required_keys__ == frozenset()
    for key, hint in hints.items():
        allowed = hint.__args__ if "Literal" in str(hint) else ()
        assert all(f"`{word}`" in OPTIONS[key].range for word in allowed)
        if not allowed:
            assert str(hint).removeprefix("<class '").removesuffix("'>") == TYPES[OPTIONS[key].type], key


@pytest.mark.older_sparks
def test_the_statement_takes_every_argument(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(4000).repartition(4).write.parquet(str(tmp_path / "t"))
    table = ZOrderTable.for_path(spark, tmp_path / "t")
    examples: dict[str, str] = {keyword: OPTIONS[key].example for keyword, key in OPTION_KEYWORDS.items()}
    for keyword, example in examples.items():
        assert table.optimize(["id"], dry_run=True, **{keyword: example}).dry_run  # type: ignore[arg-type]
    table.optimize(["id"], num_files=2, compression="zstd", retain_hours=24)
    [parameters] = [row.operationParameters for row in table.history().collect()]
    assert (parameters["num-files"], parameters["retain-hours"]) == ("2", "24")
    assert all(".zstd." in path.name for path in (tmp_path / "t").glob("*.parquet"))
    assert table.optimize(["id"], target_file_size=2**20, full=True).files_added == 1


def test_the_page_of_options_names_the_arguments() -> None:
    page = (REPOSITORY / "docs" / "reference" / "options.md").read_text()
    said = re.search(r"four of them are arguments of their own: (.*?)\. ", page, re.DOTALL)
    assert said is not None
    assert sorted(re.findall(r"`(\w+)`", said[1])) == sorted(OPTION_KEYWORDS)
