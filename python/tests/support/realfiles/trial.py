"""What one file goes through."""

import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq
from comparison import ERRORS, condition_of, no_skipping, settings
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from realfiles import predicates
from realfiles.folders import (
    arrow_rows,
    claimed_rows,
    data_files,
    footer,
    is_of_the_old_calendar,
    quoted,
    spark_rows,
    state,
)

COPIES = 3
CLAIMED_ROWS = 10_000_000
"""The files are small. One that claims more rows is broken, and a query that reads none of its columns never ends."""


@dataclass
class Outcome:
    """What became of a file.

    Attributes:
        readable: Whether plain Spark reads it.
        kept: Whether OPTIMIZE rewrote its copies, and nothing changed.
        refused: The statements that were refused by a condition of ours, with the condition.
        failed: What went wrong, which is our fault.
        lost: What the history says that the rewrite did not keep.
    """

    file: str
    readable: bool = False
    kept: bool = False
    refused: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    lost: str = ""

    @property
    def verdict(self) -> str:
        """One word, or the condition by which OPTIMIZE or else the first statement was refused."""
        if self.failed:
            return "failed"
        if self.kept:
            return "kept, with a loss that is told" if self.lost else "kept"
        return "refused: " + self.refused[-1].split(" by ")[1] if self.refused else "not rewritten"


class Trial:
    """Runs one file through the statements."""

    def __init__(self, spark: SparkSession, path: Path, name: str, work: Path) -> None:
        """Prepare a new session of the same JVM."""
        self.spark = spark.newSession()
        for key, value in _SETTINGS.items():
            self.spark.conf.set(key, value)
        self.path = path
        self.format = "orc" if path.suffix == ".orc" else "parquet"
        self.work = work
        self.outcome = Outcome(name)

    def run(self) -> Outcome:
        rows = claimed_rows(self.path)
        if rows > CLAIMED_ROWS:
            self.outcome.refused.append(f"trial by claims of {rows} rows, which plain Spark counts one by one")
            return self.outcome
        alone = self._folder("alone")
        shutil.copy(self.path, alone)
        try:
            with no_skipping(self.spark):
                spark_rows(self.spark, self._source(alone))
            self.outcome.readable = True
        except ERRORS:
            pass
        if self.outcome.readable:
            self._copies()
        else:
            for by_name in (False, True):
                self._beside_good_ones(by_name)
        return self.outcome

    def _copies(self) -> None:
        folder = self._folder("copies")
        for n in range(COPIES):
            shutil.copy(self.path, folder / f"{n}-{self.path.name}")
        source = self._source(folder)
        before, as_stored = state(folder), footer(data_files(folder)[0])
        schema = self.spark.sql(f"SELECT * FROM {source}").schema
        # The new files are in today's calendar, which pyarrow takes every file for.
        of_arrow = None if is_of_the_old_calendar(self.path) else arrow_rows(folder)
        if "variant" in schema.simpleString():
            # Spark cannot put shredded variants together without compiling. pyarrow shows how they are shredded.
            self.spark.conf.unset("spark.sql.codegen.factoryMode")
            of_arrow = as_stored = None
        with no_skipping(self.spark):
            rows = spark_rows(self.spark, source)
        self._statement(f"CREATE SKIPPING INDEX ON {source}", folder, before)
        asked, answers = self._answers(source, schema)
        keys = [path for path, _ in predicates.leaves(schema)]
        count = 1 + zlib.crc32(self.outcome.file.encode()) % 3
        layout = f" ZORDER BY ({', '.join(keys[:count])})" if keys else ""
        files = 2 if keys else 1
        optimize = f"OPTIMIZE {source} FULL{layout} OPTIONS ('num-files' = '{files}')"
        if not self._statement(optimize, folder, before):
            return
        if not self.outcome.failed and state(folder) == before:
            return
        self.outcome.kept = True
        self._compare(source, rows, of_arrow, schema.json(), "OPTIMIZE")
        self._compare_footers(folder, as_stored, source)
        if answers is not None:
            self._ask_again(source, asked, answers)
        if self._statement(f"RESTORE {source} TO VERSION AS OF 0", folder, state(folder)) and state(folder) != before:
            self.outcome.failed.append("RESTORE did not bring the files back")
        self._statement(optimize, folder, before)
        self._statement(f"VACUUM {source} RETAIN 0 HOURS", folder, state(folder))
        self._compare(source, rows, of_arrow, schema.json(), "VACUUM")

    def _answers(self, source: str, schema: object) -> tuple[list[str], dict[str, int] | None]:
        """Ask plain Spark, then with skipping. Returns the answers without filters in Spark's readers.

        A writer's bounds may leave out NaN, and then a filter in the reader finds too little, until a rewrite.
        """
        try:
            with no_skipping(self.spark):
                asked = predicates.drawn(self.spark, source, schema)  # type: ignore[arg-type]
                plain = predicates.counts(self.spark, source, asked)
                with settings(self.spark, **_NO_PUSHDOWN):
                    exact = predicates.counts(self.spark, source, asked)
        except ERRORS:
            # Spark's own literals or readers cannot do it.
            return [], None
        self._ask(source, asked, plain, "with skipping")
        return asked, exact

    def _ask(self, source: str, asked: list[str], plain: dict[str, int], how: str) -> None:
        try:
            found = predicates.counts(self.spark, source, asked)
        except ERRORS as error:
            self.outcome.failed.append(f"queries {how}: {said(error)}")
            return
        wrong = [f"{p}: {found.get(p)} in place of {rows}" for p, rows in plain.items() if found.get(p) != rows]
        if wrong:
            self.outcome.failed.append(f"rows {how}: {'; '.join(wrong[:3])}")

    def _ask_again(self, source: str, asked: list[str], plain: dict[str, int]) -> None:
        with no_skipping(self.spark):
            self._ask(source, asked, plain, "of plain Spark after OPTIMIZE")
        self._ask(source, asked, plain, "with skipping after OPTIMIZE")

    def _compare(self, source: str, rows: object, of_arrow: object, schema: str, after: str) -> None:
        folder = Path(source.split("`")[1])
        try:
            with no_skipping(self.spark):
                if spark_rows(self.spark, source) != rows:
                    self.outcome.failed.append(f"other rows for Spark after {after}")
                if self.spark.sql(f"SELECT * FROM {source}").schema.json() != schema:
                    self.outcome.failed.append(f"another schema after {after}")
        except ERRORS as error:
            self.outcome.failed.append(f"Spark cannot read after {after}: {said(error)}")
        if of_arrow is not None:
            now = arrow_rows(folder)
            if now != of_arrow:
                self.outcome.failed.append(f"{'no' if now is None else 'other'} rows for pyarrow after {after}")

    def _compare_footers(self, folder: Path, before: dict[str, object] | None, source: str) -> None:
        history = self.spark.sql(f"DESCRIBE HISTORY {source}").collect()
        self.outcome.lost = history[0].operationMetrics.get("notKept", "")
        if before is None or self.outcome.lost:
            return
        now = [footer(path) or {} for path in data_files(folder)]
        changed = {part: after.get(part) for after in now for part in before if after.get(part) != before[part]}
        if changed:
            told = "; ".join(f"{part}: {before[part]!r} became {after!r}" for part, after in changed.items())
            self.outcome.failed.append(f"the footer changed: {told}"[:1500])

    def _beside_good_ones(self, by_name: bool) -> None:
        folder = self._folder("named" if by_name else "beside")
        for n in range(COPIES):
            table = pa.table({"id": pa.array(range(n, 60, 3), pa.int64()), "a": pa.array(range(20), pa.int32())})
            if self.format == "orc":
                orc.write_table(table, folder / f"good-{n}.orc")
            else:
                pq.write_table(table, folder / f"good-{n}.parquet")
        shutil.copy(self.path, folder / f"k-{self.path.name}")
        source = self._source(folder)
        if by_name:
            self.spark.sql(f"CREATE TABLE real_file (id BIGINT, a INT) USING {self.format} LOCATION '{folder}'")
            source = "real_file"
        try:
            before = state(folder)
            query = f"SELECT count(*), sum(id) FROM {source} WHERE id >= 10"
            plain = self._plain(query)
            bad = f"k-{self.path.name}"
            self._statement(f"CREATE SKIPPING INDEX ON {source}", folder, before, naming=bad)
            self._same(query, plain, "with skipping")
            if self._statement(f"OPTIMIZE {source} FULL ZORDER BY (id)", folder, before, naming=bad):
                self._same(query, plain, "after OPTIMIZE")
        finally:
            if by_name:
                self.spark.sql("DROP TABLE real_file")

    def _plain(self, query: str) -> str:
        with no_skipping(self.spark):
            return self._answer(query)

    def _answer(self, query: str) -> str:
        try:
            return repr(self.spark.sql(query).collect())
        except ERRORS as error:
            return f"error {condition_of(error)}"

    def _same(self, query: str, plain: str, how: str) -> None:
        for answer in (self._answer(query), self._plain(query)):
            # What Spark cannot read, skipping may leave out.
            if answer != plain and not plain.startswith("error "):
                self.outcome.failed.append(f"{plain} became {answer} {how}")

    def _statement(self, statement: str, folder: Path, before: dict[str, str], naming: str = "") -> bool:
        """Run a statement. It succeeds, or is refused by an error of ours with nothing moved."""
        words = " ".join(statement.split("`")[0].split()[:2])
        try:
            self.spark.sql(statement).collect()
        except ERRORS as error:
            condition = condition_of(error)
            self.outcome.refused.append(f"{words} by {condition}")
            # The second is Spark's own, for rows that it cannot decode. It names the file.
            if not condition.startswith(("ZORDER_", "FAILED_READ_FILE")):
                self.outcome.failed.append(f"{statement}: {said(error)}")
            elif naming and naming not in str(error):
                self.outcome.failed.append(f"{statement}: the file is not named: {said(error)}")
            if state(folder) != before:
                self.outcome.failed.append(f"{statement}: refused, but the files changed")
            return False
        return True

    def _folder(self, name: str) -> Path:
        folder = self.work / name
        folder.mkdir()
        return folder

    def _source(self, folder: Path) -> str:
        return f"{self.format}.{quoted(str(folder))}"


_NO_PUSHDOWN = {"spark_sql_parquet_filterPushdown": "false", "spark_sql_orc_filterPushdown": "false"}

_SETTINGS = {
    # Compiling a query takes longer than running it.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.timeType.enabled": "true",
    "spark.sql.files.minPartitionNum": "1",
    "spark.sql.files.openCostInBytes": "0",
}


def said(error: PySparkException | Py4JJavaError) -> str:
    """The beginning of an error's message."""
    text = str(error.java_exception) if isinstance(error, Py4JJavaError) else str(error)
    return " ".join(text.split())[:600]


@contextmanager
def tidy(work: Path) -> Iterator[Path]:
    """A folder for one file, which goes away."""
    work.mkdir(parents=True)
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)
