"""What the README shows runs, from its first block to its last, in one folder and one session."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import REPOSITORY

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

BLOCK = re.compile(r"^```(python|sql)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks() -> Iterator[tuple[str, str]]:
    """The language and the text of each block."""
    for match in BLOCK.finditer((REPOSITORY / "README.md").read_text()):
        yield match[1], match[2]


def test_the_blocks_of_the_readme_run(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    # Spark's own idea of the working folder is its JVM's.
    folder = str(tmp_path / "flights")
    spark.range(4000).selectExpr(
        "id",
        "array('AA', 'DL', 'UA')[id % 3] AS carrier",
        "array('MIA', 'BOS', 'SFO', 'LAX')[id * 7919 % 4] AS dest",
        "id * 104729 % 400 - 20 AS dep_delay",
    ).repartition(8).write.parquet(folder)
    names: dict[str, object] = {}
    ran = 0
    for language, text in blocks():
        code = text.replace("/data/flights", folder)
        if language == "python":
            exec(compile(code, f"README.md, block {ran + 1}", "exec"), names)
        else:
            for statement in re.split(r";\s*(?:--.*)?$", code, flags=re.MULTILINE):
                if re.sub(r"--.*", "", statement).strip():
                    spark.sql(statement).collect()
        ran += 1
    assert ran >= 2
    assert spark.read.parquet(folder).count() == 4000
