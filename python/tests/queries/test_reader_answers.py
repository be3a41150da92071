"""docs/readers.md: no common reader answers wrongly after OPTIMIZE where it was right before, with any form of path."""

import json
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
import reader_answers
import reader_questions
import spark_answers
from conftest import REPOSITORY, SUPPORT
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from reader_questions import Question
from reader_tables import Content, contents, truth, write
from readers import FORMS
from small_tables import SmallTable

PYTHON = REPOSITORY / "build" / "envs" / "readers" / "bin" / "python"
PAGE = REPOSITORY / "docs" / "readers.md"
OURS = "Spark with the extension"

FEATURES = {
    "dictionary": "dictionary",
    "Bloom filter": "bloom",
    "page index": "index",
    "all null": "null",
    "sorted": "sorted",
    "-0.0": "-0.0",
    "NaN": "NaN",
    "struct": "struct",
}
"""The columns of the page. The first three are about how files are written, the others about what is in them."""

PLAIN = {"parquet.enable.dictionary": "false", "orc.dictionary.key.threshold": "0"}
WAYS: dict[str, dict[str, str]] = {
    "dictionary": {},
    "index": PLAIN | {"parquet.page.row.count.limit": "20", "parquet.page.size.row.check.min": "1"},
    "bloom": PLAIN,
}
"""How files are rewritten. Each folder has one, and its name."""

KNOWN = {(spark_answers.PUSHED, feature): "**fails**" for feature in ("all null", "NaN")}
"""Faults of Spark that the page explains, in Parquet."""

KNOWN_ORC = {(spark_answers.PUSHED, "NaN"): "**wrong**"}
"""The same in ORC."""

Answers = dict[tuple[str, str], Any]
"""What readers answer, by their names, about folders or forms of path."""


def asked(command: list[str]) -> Answers:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=3600)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('["')]
    return {(reader, folder): found for reader, folder, found in lines}


def all_answers(spark: SparkSession, questions: list[Question], folders: list[Path], form: str) -> Answers:
    file = folders[0].with_suffix(".json")
    reader_questions.save(questions, file)
    arguments = [str(file), ",".join(map(str, folders))]
    readers = list(reader_answers.OF_ORC if form == "orc" else reader_answers.READERS)
    others = asked([str(PYTHON), str(SUPPORT / "reader_answers.py"), *arguments, *readers])
    sparks = asked([sys.executable, str(SUPPORT / "spark_answers.py"), *arguments])
    for key, value in spark_answers.SETTINGS.items():
        if key.startswith("spark.sql."):
            spark.conf.set(key, value)
    ours = {(OURS, folder.name): spark_answers.answers(spark, folder, questions) for folder in folders}
    return others | sparks | ours


def rewritten(spark: SparkSession, before: Path, columns: list[Content], form: str) -> list[Path]:
    """Copies of a folder, each rewritten in its way."""
    ways = [way for way in WAYS if way != "index" or form == "parquet"]
    with_filter = ",".join(c.name + ".x" * c.nested for c in columns if c.type not in ("bool", "float", "double"))
    for way in ways:
        folder = before.with_name(way)
        shutil.copytree(before, folder)
        session = spark.newSession()
        for key, value in WAYS[way].items():
            session.conf.set(key, value)
        filters = f", 'bloom-filter-columns' = '{with_filter}'" if way == "bloom" else ""
        session.sql(f"OPTIMIZE {form}.`{folder}` ZORDER BY (k) OPTIONS ('num-files' = '4'{filters})").collect()
        assert len(list(folder.glob(f"*.{form}"))) == 4
    return [before.with_name(way) for way in ways]


def is_error(answer: Any) -> bool:
    return isinstance(answer, str) and answer.startswith("error")


def word(triples: list[tuple[Any, Any, Any]]) -> str:
    """A cell of the table, from the right answer to each question, that before OPTIMIZE, and that after it."""
    triples = [t for t in triples if t[1] is not None and not is_error(t[1])]
    if any(is_error(after) for _, _, after in triples):
        return "**fails**"
    if any(before == right != after for right, before, after in triples):
        return "**wrong**"
    if any(after != right for right, _, after in triples):
        return "as before" if all(after in (right, before) for right, before, after in triples) else "**differs**"
    return "yes" if triples else "-"


def section(form: str, cells: dict[str, list[str]]) -> str:
    """What the page says of a format: the readers whose answers are all right, and a table of the others."""
    right = [reader for reader, row in cells.items() if set(row) == {"yes"}]
    features = [f for f in FEATURES if form == "parquet" or f != "page index"]
    others = [[reader, *row] for reader, row in cells.items() if reader not in right]
    lines = [["Reader", *features], ["---"] * (len(features) + 1), *others]
    table = "\n".join(f"| {' | '.join(line)} |" for line in lines).replace(" --- ", "---")
    words = textwrap.fill(f"All answers are right: {'; '.join(right)}.", 100)
    return f"{words}\n\n{table}"


@pytest.mark.test_all
@pytest.mark.skipif(not PYTHON.exists(), reason="make readers")
@pytest.mark.parametrize("title", ["Parquet", "ORC"])
def test_readers_answer_as_before(spark: SparkSession, tmp_path: Path, title: str) -> None:
    form = title.lower()
    columns = contents()
    about = [(c, q) for c in columns for q in c.questions()]
    # Without statistics a reader looks at each row, so it answers as its own rules for NaN and -0.0 say.
    write(columns, tmp_path / "bare", form, statistics=False)
    write(columns, tmp_path / "before", form)
    folders = rewritten(spark, tmp_path / "before", columns, form)
    found = all_answers(spark, [q for _, q in about], [tmp_path / "bare", tmp_path / "before", *folders], form)

    truths = [truth(c, q) for c, q in about]
    readers = list(dict.fromkeys(reader for reader, _ in found))
    cells: dict[str, list[str]] = {}
    known = KNOWN_ORC if form == "orc" else KNOWN
    wrong = []
    for reader in readers:
        bare, before = found[reader, "bare"], found[reader, "before"]
        if reader != "fastparquet":  # `<>` is true for its nulls.
            assert [b for b, t in zip(bare, truths, strict=True) if t is not None and not is_error(b) and b != t] == []
        row = []
        for title_of, feature in FEATURES.items():
            if feature == "index" and form == "orc":
                continue
            taken = {
                (way, i): (bare[i], before[i], found[reader, way][i])
                for way in [f.name for f in folders]
                for i, (c, _) in enumerate(about)
                if ((feature == way and c.feature == "mixed") or c.feature == feature)
                # fastparquet's `<>` is true for nulls, unless it leaves out the file by its statistics.
                and not (reader == "fastparquet" and about[i][1].ask == "<>")
            }
            row.append(word(list(taken.values())))
            for (way, i), triple in taken.items():
                if word([triple]).startswith("**") and known.get((reader, title_of)) != word([triple]):
                    wrong.append(f"{reader}, {way}: {about[i][1]}: right {triple[0]}, before {triple[1]}, {triple[2]}")
        cells[reader] = row
    assert not wrong, f"{len(wrong)} answers:\n" + "\n".join(wrong[:200])
    assert f"\n### {title}\n\n{section(form, cells)}\n" in PAGE.read_text(), section(form, cells)


def with_us(spark: SparkSession, path: str) -> int | str:
    try:
        return spark.read.parquet(path).count()
    except PySparkException as e:
        return str(e)


def counts(spark: SparkSession, folder: Path) -> Answers:
    """What readers find by each form of path: numbers of rows, or the words of an error."""
    program = str(SUPPORT / "readers.py")
    sparks = asked([sys.executable, program, str(folder), "Spark without the extension"])
    ours = {(OURS, form): with_us(spark, f"{folder}{form}") for form in FORMS}
    return asked([str(PYTHON), program, str(folder)]) | sparks | ours


def word_of_form(flat: tuple[bool, bool], partitioned: tuple[bool, bool]) -> str:
    """A cell of the table: whether a form works before OPTIMIZE and after it, flat and partitioned."""
    before = [kind for kind, works in (("flat", flat), ("partitioned", partitioned)) if works[0]]
    after = [kind for kind, works in (("flat", flat), ("partitioned", partitioned)) if works[1]]
    if not before:
        return "-"
    if before == after:
        return "yes" if len(before) == 2 else f"{before[0]} only"
    return "**fails**" if not after else f"**{after[0]} only**"


def rows_of(page: str) -> dict[str, list[str]]:
    """The table of the page: the cells of each reader."""
    lines = [[c.strip() for c in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]
    return {cells[0]: cells[1:] for cells in lines[2:] if len(cells) == len(FORMS) + 1}


@pytest.mark.test_all
@pytest.mark.skipif(not PYTHON.exists(), reason="make readers")
def test_readers_take_the_forms_of_path_that_the_page_says(spark: SparkSession, tmp_path: Path) -> None:
    results = {}
    for partitioned in (False, True):
        table = SmallTable.write(tmp_path / f"t{partitioned:d}", partitioned)
        before = counts(spark, table.root)
        spark.sql(table.optimize)
        spark.sql(table.optimize.replace(" ZORDER", " FULL ZORDER", 1))
        after = counts(spark, table.root)
        assert not list(table.root.rglob("*.crc"))
        rows = len(table.ids)
        for case, found in after.items():
            assert isinstance(found, str) or found in (rows, before[case]), (case, found)
        results[partitioned] = {case: (before[case] == rows, after[case] == rows) for case in before}
    readers = list(dict.fromkeys(reader for reader, _ in results[False]))
    cells = {r: [word_of_form(results[False][r, form], results[True][r, form]) for form in FORMS] for r in readers}
    assert cells == rows_of(PAGE.read_text())
