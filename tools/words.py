"""Checks that pages are easy to read: short sentences, short lines, and a score of readability.

    python tools/words.py                 all pages of the repository
    python tools/words.py --scores FILE   these pages, with the score of each

Four rules hold for each page:

- No sentence has more than 30 words. A piece of inline code counts as one word, and so does a number.
- No line of prose has more than 100 columns. Tables, code and lines that are nothing but a link may be longer.
- No sentence of the prose uses a phrase of `PHRASES`. A formula cannot see a riddle in short words, but these phrases
  often make one.
- The Flesch reading ease of its prose, as textstat computes it, is at least 60, where plain English begins. Pages of
  fewer than 100 words have no score.

One rule holds for the comments and messages of the sources:

- None has `VAGUE` words, which do not say what acts: a reader, another program, a process.

Code blocks are not prose, nor are HTML and the instructions of mkdocstrings. The cells of tables are: a sentence in
one has to be short as well. They do not count for the score, since they are often no sentences.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import textstat
from markdown_it import MarkdownIt

if TYPE_CHECKING:
    from markdown_it.token import Token

MOST_WORDS = 30
MOST_COLUMNS = 100
LEAST_SCORE = 60.0
FEWEST_SCORED_WORDS = 100

PHRASES = {
    re.compile(r"^(Who|What|Whoever|Whatever)\b(?!.*\?\W*$)"): "begin with the person or the thing",
    re.compile(r"\bof which\b", re.IGNORECASE): "'of which': two sentences",
    re.compile(r"\bwhose is\b", re.IGNORECASE): "'whose is': two sentences",
    re.compile(r"\b(lies|lie) in\b"): "'lies in': is in",
    re.compile(r"\b(stands|stand) (on|in)\b"): "'stands on': is on",
    re.compile(r"\b(is|are) told from\b"): "'is told from': looks different from",
    re.compile(r"\s\.\.(\s|$)"): "two dots: three dots, or the rest of the words",
}

VAGUE = re.compile(r"\b(somebody|nobody|anybody|everybody|whoever)\b", re.IGNORECASE)
SOURCES = ("jvm/src/main/**/*.scala", "jvm/src/main/**/*.json", "python/src/**/*.py")

ROOT = Path(__file__).resolve().parents[1]

_ABBREVIATIONS = ("e.g.", "i.e.", "etc.", "cf.", "vs.", "al.", "sec.", "fig.", "approx.")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+")
_ONLY_A_LINK = re.compile(r"\s*([-*>]\s+|\d+\.\s+)?(\(?!?\[.*\]\(\S+\)|\[[^]]+\]:\s+\S+|<?https?://\S+>?)[.,;:)]*")
_WORD = re.compile(r"[^\W_]")


@dataclass(frozen=True)
class Passage:
    """A paragraph, a point of a list, a heading or a cell, as plain text on one line."""

    line: int
    kind: str
    text: str


@dataclass(frozen=True)
class Problem:
    """What is wrong, and in which line."""

    line: int
    message: str


def parsed(text: str) -> list[Token]:
    """The blocks of a page."""
    return MarkdownIt("commonmark").enable("table").parse(text)


def plain(inline: Token) -> str:
    """The words of a passage. A piece of code is the word `code`, since it is read as a name."""
    parts = []
    for child in inline.children or []:
        if child.type == "text":
            parts.append(child.content)
        elif child.type == "code_inline":
            parts.append("code")
        elif child.type in ("link_open", "link_close"):
            # Titles of pages may begin as they like.
            parts.append("[" if child.type == "link_open" else "]")
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
    return re.sub(r"\s+", " ", "".join(parts)).strip()


def passages(tokens: list[Token]) -> Iterator[Passage]:
    """All that people read on a page, from top to bottom."""
    kind = "prose"
    for token in tokens:
        if token.type == "heading_open":
            kind = "heading"
        elif token.type in ("td_open", "th_open"):
            kind = "cell"
        elif token.type in ("heading_close", "td_close", "th_close"):
            kind = "prose"
        elif token.type == "inline" and not token.content.startswith(":::"):
            yield Passage(token.map[0] + 1 if token.map else 1, kind, plain(token))


def sentences(text: str) -> list[str]:
    """The sentences of a passage."""
    found: list[str] = []
    rest = ""
    for piece in _SENTENCE_END.split(text):
        rest = f"{rest} {piece}".strip()
        if not rest.lower().endswith(_ABBREVIATIONS):
            found.append(rest)
            rest = ""
    return [each for each in [*found, rest] if each]


def words(sentence: str) -> list[str]:
    """The words of a sentence; marks that stand alone are none."""
    return [word for word in sentence.split() if _WORD.search(word)]


def lines_of_code(tokens: list[Token]) -> set[int]:
    """The numbers of the lines that are code, tables or HTML."""
    return {
        number + 1
        for token in tokens
        if token.type in ("fence", "code_block", "html_block", "table_open") and token.map
        for number in range(*token.map)
    }


def score(found: list[Passage]) -> float | None:
    """The Flesch reading ease of a page's prose, or nothing for a short page."""
    prose = [each for passage in found if passage.kind == "prose" for each in sentences(passage.text)]
    if sum(len(words(each)) for each in prose) < FEWEST_SCORED_WORDS:
        return None
    # One full stop a sentence: those of numbers and names would count as sentences of their own.
    text = "\n".join(re.sub(r"[.!?]", " ", each).strip() + "." for each in prose)
    return float(textstat.flesch_reading_ease(text))


def check(text: str) -> tuple[list[Problem], float | None]:
    """The problems of a page, in the order of its lines, and its score."""
    tokens = parsed(text)
    found = list(passages(tokens))
    problems = []
    for passage in found:
        for sentence in sentences(passage.text):
            count = len(words(sentence))
            # A list of names is no sentence.
            if count > MOST_WORDS and set(words(sentence)) != {"code"}:
                problems.append(Problem(passage.line, f"a sentence of {count} words: {sentence[:60]}.."))
            if passage.kind == "prose":
                problems += [
                    Problem(passage.line, f"{advice}: {sentence[:60]}")
                    for phrase, advice in PHRASES.items()
                    if phrase.search(sentence)
                ]
    code = lines_of_code(tokens)
    for number, line in enumerate(text.splitlines(), 1):
        if len(line) > MOST_COLUMNS and number not in code and not _ONLY_A_LINK.fullmatch(line):
            problems.append(Problem(number, f"a line of {len(line)} columns"))
    ease = score(found)
    if ease is not None and ease < LEAST_SCORE:
        problems.append(Problem(1, f"a reading ease of {ease:.0f}, less than {LEAST_SCORE:.0f}: shorter words"))
    return sorted(problems, key=lambda problem: problem.line), ease


def pages() -> list[Path]:
    """All pages of the repository."""
    named = (ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"))
    return [*(path for path in named if path.exists()), *sorted((ROOT / "docs").rglob("*.md"))]


def main() -> int:
    """Checks the pages named, or all of them."""
    parser = argparse.ArgumentParser(description="Checks that pages are easy to read.")
    parser.add_argument("files", nargs="*", type=Path, help="pages; without any, all of the repository")
    parser.add_argument("--scores", action="store_true", help="print the score of each page")
    arguments = parser.parse_args()
    count = 0
    files = arguments.files or pages()
    for path in files:
        problems, ease = check(path.read_text(encoding="utf-8"))
        for problem in problems:
            print(f"{path}:{problem.line}: {problem.message}")
        if arguments.scores:
            print(f"{'short' if ease is None else format(ease, '.1f'):>6}  {path}")
        count += len(problems)
    sources = [] if arguments.files else [f for pattern in SOURCES for f in sorted(ROOT.glob(pattern))]
    for path in sources:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            if found := VAGUE.search(line):
                print(f"{path}:{number}: '{found[0]}': say what acts")
                count += 1
    print(f"{len(files)} pages, {len(sources)} sources, {count} problems")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
