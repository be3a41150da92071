"""The check of the pages' words finds what it says, and nothing else."""

import importlib.util
import sys
from types import ModuleType

import pytest
from conftest import REPOSITORY


@pytest.fixture(scope="module")
def words() -> ModuleType:
    """The tool, which is no package's."""
    pytest.importorskip("textstat")
    spec = importlib.util.spec_from_file_location("words", REPOSITORY / "tools" / "words.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["words"] = module
    spec.loader.exec_module(module)
    return module


def messages(words: ModuleType, text: str) -> list[str]:
    return [f"{problem.line}: {problem.message}" for problem in words.check(text)[0]]


def test_a_long_sentence(words: ModuleType) -> None:
    thirty = " ".join(["word"] * 30)
    assert messages(words, f"Short.\n\n{thirty[:60]}\n{thirty[60:]}.") == []
    assert messages(words, f"Short.\n\nOne more\n{thirty[:60]}\n{thirty[60:]}.") == [
        "3: a sentence of 32 words: One more word word word word word word word word word word w.."
    ]


def test_code_is_a_word_and_marks_are_none(words: ModuleType) -> None:
    assert words.words(words.plain(words.parsed("Set `a b c` = [the *value*](x.md) - 5.")[1])) == [
        "Set",
        "code",
        "[the",
        "value]",
        "5.",
    ]


def test_sentences_end_with_a_blank_behind_the_stop(words: ModuleType) -> None:
    assert words.sentences("Version 4.1 works, e.g. here. It does! (Yes.) Done") == [
        "Version 4.1 works, e.g. here.",
        "It does!",
        "(Yes.",
        "Done",
    ]


def test_a_long_line_of_prose(words: ModuleType) -> None:
    line = "a. " * 33 + "bb"
    assert messages(words, f"{line}\n\n```sql\n{line}\n```\n\n| {line} |\n|---|\n\n- [a link]({'x' * 100})\n") == [
        "1: a line of 101 columns"
    ]


def test_riddles(words: ModuleType) -> None:
    assert messages(words, "# What it does\n\nWhat is it? [What](x.md) it is.\n\n| What it did |\n|---|\n") == []
    assert messages(words, "Who writes, loses.\n") == ["1: begin with the person or the thing: Who writes, loses."]


def test_hard_words(words: ModuleType) -> None:
    hard = "Organizational considerations necessitate multidimensional characterization. " * 30
    easy = "The cat sat on the mat. " * 30
    assert messages(words, easy.replace(". ", ".\n")) == []
    assert ["shorter words" in message for message in messages(words, hard.replace(". ", ".\n"))] == [True]
