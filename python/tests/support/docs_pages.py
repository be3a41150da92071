"""Runs the examples of a page of the documentation, and compares what they print with what the page shows.

A page is Markdown. These are its examples:

    ```sql                          statements, each ended by `;` at the end of its line; the last one may lack it
    ```python                       a program, with `spark` in it; the blocks of a page share their variables
    ```sh                           lines of `python -m spark_zorder ..`
    ```text                         right after one of these, with blank lines between at most: what it prints

A ```text block anywhere else is a drawing or a syntax. Other languages are for reading only, and these comments, which
the reader of the page does not see, say more:

    <!-- not run: the reason -->    the next block is not run
    <!-- table: flights -->         make the table of the examples anew, as docs/getting-started.md makes it

Each page has a database of its own, whose folder is `/data` in the code and in the output. What a statement returns is
printed as a table like that of `DataFrame.show()`, or one field a line where the table would be wider than a page. An
error of ours is printed in lines of that width. A page has `...` where the output differs from run to run: the writer
puts it in place of ids, names of files, times, users and sizes in bytes. How many blanks or dashes there are in a row
does not count.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import golden
from conftest import REPOSITORY
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, Row, SparkSession

from spark_zorder.errors import condition_of

RUN = ("sql", "python", "sh")
WIDEST_TABLE = 100

_PART = re.compile(r"^```(?P<language>\w*)[^\n]*\n(?P<code>.*?)^```$|^<!-- (?P<comment>.*?) -->$", re.M | re.S)
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_FILE = re.compile(r"\b(part|zorder)-[0-9a-zA-Z-]+[-_.][0-9a-zA-Z._-]*?(?=\.(?:parquet|orc)\b)")
# Sizes and times in the summary of OPTIMIZE.
_REWRITTEN = re.compile(r"(?<=files, )[\d.]+ \w+ in (about )?[\d.]+ \w+(?=\.)")
_RETIRED = re.compile(r"(?<=Retired files take )[\d.]+ \w+(?= until)")
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+)?")


@dataclass(frozen=True)
class Example:
    """A block to run, from a line of the page. `shown` is the span of its output in the page's text."""

    language: str
    code: str
    line: int
    shown: tuple[int, int] | None
    hidden: bool = False


def examples(text: str, tables: dict[str, str]) -> list[Example]:
    """The examples of a page, in their order. `tables` has the statements that make each `<!-- table: .. -->`."""
    found: list[Example] = []
    passed = False
    end = -1
    for part in _PART.finditer(text):
        line = text.count("\n", 0, part.start()) + 1
        comment = part["comment"]
        if comment is not None:
            word, _, rest = comment.partition(":")
            if word == "table":
                name = rest.strip()
                anew = f"DROP TABLE IF EXISTS {name};\n{tables[name]}"
                found.append(Example("sql", anew, line, None, hidden=True))
            passed = word == "not run" and rest.strip() != ""
            continue
        language, code = part["language"], part["code"]
        if language == "text" and found and end >= 0 and not text[end : part.start()].strip():
            last = found.pop()
            found.append(Example(last.language, last.code, last.line, part.span("code")))
        end = -1
        if language in RUN and not passed:
            found.append(Example(language, code, line, None))
            end = part.end()
        passed = False
    return found


def tables() -> dict[str, str]:
    """The tables of the examples, by name, from the page that introduces them."""
    text = (REPOSITORY / "docs" / "getting-started.md").read_text()
    return {m[1]: m[2] for m in re.finditer(r"^<!-- defines: (\w+) -->\n```sql\n(.*?)^```$", text, re.M | re.S)}


def check(page: Page) -> None:
    """Compare what a page shows with what its examples print. With `WRITE_DOCS=1`, write what they print."""
    if os.environ.get("WRITE_DOCS"):
        page.write()
        return
    different = [
        f"{page.name}, line {example.line} shows\n{shown}\nbut prints\n{printed}"
        for example, shown, printed in page.differences()
    ]
    assert not different, "\n\n".join(different)


def statements(code: str) -> Iterator[str]:
    """The statements of a block, without semicolons and comments at the ends of lines."""
    is_script = code.startswith("BEGIN")
    for statement in [code] if is_script else re.split(r";\s*(?:--[^\n]*)?$", code, flags=re.MULTILINE):
        if re.sub(r"--[^\n]*", "", statement).strip():
            yield statement.strip()


def same(shown: str, printed: str) -> bool:
    pieces = (re.escape(_even(piece)) for piece in shown.strip("\n").split("..."))
    return re.fullmatch(r"[ ]?.*?[ ]?".join(pieces), _even(printed.strip("\n")), re.DOTALL) is not None


def _even(text: str) -> str:
    text = re.sub(r"-{2,}", "--", text)
    return re.sub(r" +$", "", re.sub(r"[ ]{2,}", " ", text), flags=re.MULTILINE)


class Page:
    """Runs the examples of one page, in a session of its own whose current database is in the folder."""

    def __init__(self, spark: SparkSession, folder: Path, path: Path, tables: dict[str, str]) -> None:
        self._spark, self._folder, self.name, self._path, self._tables = spark, folder, path.name, path, tables
        self._names: dict[str, object] = {"spark": spark}

    def differences(self) -> Iterator[tuple[Example, str, str]]:
        """Each example that prints something else, with what the page shows and what was printed."""
        text = self._path.read_text()
        for example, printed in self._run(text):
            if example.shown and not same(text[slice(*example.shown)], printed):
                yield example, text[slice(*example.shown)], printed

    def write(self) -> None:
        """Put what was printed into the page, where it differs from what is there."""
        text = self._path.read_text()
        changed = [(example.shown, printed) for example, _, printed in self.differences()]
        for place, printed in reversed(changed):
            assert place is not None
            text = text[: place[0]] + printed.strip("\n") + "\n" + text[place[1] :]
        self._path.write_text(text)

    def _run(self, text: str) -> Iterator[tuple[Example, str]]:
        for example in examples(text, self._tables):
            code = re.sub(r"(?<![\w.])/data\b", str(self._folder), example.code)
            try:
                with mock.patch.object(SparkSession.Builder, "getOrCreate", return_value=self._spark):
                    output = getattr(self, f"_{example.language}")(code, example.line)
            except Exception as error:
                raise AssertionError(f"{self._path.name}, line {example.line}: {error}") from error
            yield example, self._clean(output)

    def _sql(self, code: str, line: int) -> str:
        return "\n\n".join(output for output in map(self._result, statements(code)) if output)

    def _result(self, statement: str) -> str:
        try:
            return show(self._spark.sql(statement), self._clean)
        except PySparkException as error:
            if not (condition_of(error) or "").startswith("ZORDER_"):
                raise
            message = golden.describe_error(error).partition("\n")[2]
            return textwrap.fill(message, WIDEST_TABLE, break_long_words=False, break_on_hyphens=False)

    def _python(self, code: str, line: int) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * line + code, self._path.name, "exec"), self._names)
        return printed.getvalue()

    def _sh(self, code: str, line: int) -> str:
        outputs = []
        for command in code.splitlines():
            words = command.split()
            assert words[:3] == ["python", "-m", "spark_zorder"], f"not a command of the tool: {command}"
            done = subprocess.run([sys.executable, *words[1:]], capture_output=True, text=True, timeout=60)
            outputs.append(done.stdout + done.stderr)
        return "\n".join(outputs)

    def _clean(self, text: str) -> str:
        for folder in (f"file://{self._folder}", f"file:{self._folder}", str(self._folder)):
            text = text.replace(folder, "/data")
        text = text.replace(self._folder.name, "default")
        text = _RETIRED.sub("...", _REWRITTEN.sub("...", text))
        return _ID.sub("...", _FILE.sub(r"\1-...", text))


def show(result: DataFrame, clean: Any = str) -> str:
    """What a statement returns: a table, or one field a line where that would be too wide. Nothing for no columns."""
    if not result.columns:
        return ""
    rows = result.collect()
    cells = [[clean(value(item, name)) for name, item in zip(result.columns, row, strict=True)] for row in rows]
    widths = [max(map(len, column)) for column in zip(result.columns, *cells, strict=True)]
    if sum(widths) + len(widths) + 1 <= WIDEST_TABLE or not rows:
        border = "+".join(["", *("-" * width for width in widths), ""])
        lines = [
            "|".join(["", *(cell.rjust(width) for cell, width in zip(line, widths, strict=True)), ""])
            for line in [result.columns, *cells]
        ]
        return "\n".join([border, lines[0], border, *lines[1:], border])
    records = []
    for number, row in enumerate(rows):
        fields = [field for name, item in zip(result.columns, row, strict=True) for field in flat(name, item, name)]
        width = max(len(name) for name, _ in fields)
        lines = [f"{name.ljust(width)}  {clean(text)}".rstrip() for name, text in fields]
        records.append("\n".join([*([f"-- row {number}"] if len(rows) > 1 else []), *lines]))
    return "\n".join(records)


def flat(path: str, item: Any, field: str) -> Iterator[tuple[str, str]]:
    """The innermost values of a value, each with its path."""
    if isinstance(item, Row | dict):
        pairs = item.asDict() if isinstance(item, Row) else dict(sorted(item.items()))
        for name, inner in pairs.items():
            yield from flat(f"{path}.{name}", inner, name)
    elif isinstance(item, list) and any(isinstance(each, Row) for each in item):
        for number, inner in enumerate(item):
            yield from flat(f"{path}[{number}]", inner, field)
    else:
        yield path, value(item, field)


def value(item: Any, field: str) -> str:
    """A value as text, with `...` for what differs from run to run; `field` is the name of the innermost field."""
    text = golden.show(item, field)
    return _TIME.sub("...", re.sub(r"<(bytes|time|user|n)>", "...", text))
