"""The check of the pages' words finds what it says, and nothing else."""

import pytest
from conftest import tool

pytest.importorskip("textstat")
WORDS = tool("words")


def messages(text: str) -> list[str]:
    return [f"{problem.line}: {problem.message}" for problem in WORDS.check(text)[0]]


def test_a_long_sentence() -> None:
    thirty = " ".join(["word"] * 30)
    assert messages(f"Short.\n\n{thirty[:60]}\n{thirty[60:]}.") == []
    assert messages(f"Short.\n\nOne more\n{thirty[:60]}\n{thirty[60:]}.") == [
        "3: a sentence of 32 words: One more word word word word word word word word word word w.."
    ]


def test_code_is_a_word_and_marks_are_none() -> None:
    found = WORDS.words(WORDS.plain(WORDS.parsed("Set `a b c` = [the *value*](x.md) - 5.")[1]))
    assert found == ["Set", "code", "[the", "value]", "5."]


def test_sentences_end_with_a_blank_behind_the_stop() -> None:
    found = WORDS.sentences("Version 4.1 works, e.g. here. It does! (Yes.) Done")
    assert found == ["Version 4.1 works, e.g. here.", "It does!", "(Yes.", "Done"]


def test_a_long_line_of_prose() -> None:
    line = "a. " * 33 + "bb"
    assert messages(f"{line}\n\n```sql\n{line}\n```\n\n| {line} |\n|---|\n\n- [a link]({'x' * 100})\n") == [
        "1: a line of 101 columns"
    ]


def test_riddles() -> None:
    assert messages("# What it does\n\nWhat is it? [What](x.md) it is.\n\n| What it did |\n|---|\n") == []
    assert messages("Who writes, loses.\n") == ["1: begin with the person or the thing: Who writes, loses."]


def test_hard_words() -> None:
    hard = "Organizational considerations necessitate multidimensional characterization. " * 30
    easy = "The cat sat on the mat. " * 30
    assert messages(easy.replace(". ", ".\n")) == []
    assert ["shorter words" in message for message in messages(hard.replace(". ", ".\n"))] == [True]
