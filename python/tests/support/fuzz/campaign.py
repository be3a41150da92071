"""Runs tables one after the other, asks questions about each, and collects the results."""

from __future__ import annotations

import re
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import duckdb
import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from fuzz import sessions
from fuzz.answered import Answered as FromIndex
from fuzz.answers import Answer, Questions
from fuzz.columns import Column
from fuzz.dialects import Text
from fuzz.duck import Copy, alike
from fuzz.held import Held
from fuzz.history import History, RowsLostError
from fuzz.joined import Joined
from fuzz.predicates import TABLE, Conditions
from fuzz.reuse import both_orders, lost
from fuzz.tables import FuzzTable

PHASES, BATCHES, BATCH = 2, 1, 20
"""A table is queried, changed and queried again. Each batch has its own settings."""

HELD = 6
"""Queries of a table on a cached listing, while one of its files is overwritten."""

QUERIES = PHASES * BATCHES * BATCH
"""Queries of a table."""


@dataclass
class Tally:
    """The figures and mismatches of a run."""

    seed: str
    tables: int = 0
    queries: int = 0
    by_duck: int = 0
    refused_by_duck: int = 0
    raised: int = 0
    held: int = 0
    pairs: int = 0
    pushed: int = 0
    """Queries without skipping of files that OPTIMIZE wrote, with and without filters in Spark's readers."""
    files: int = 0
    kept: int = 0
    again: int = 0
    """Queries that came a second time, or a third time with a condition more."""
    kept_again: int = 0
    asked: int = 0
    answered: int = 0
    """Those of them for which the index answers for some file."""
    joins: int = 0
    files_joined: int = 0
    """Files of tables in joins whose keys may leave out some."""
    kept_joined: int = 0
    by_values: int = 0
    """Queries that skipped files by the values that columns have in them."""
    by_curve: int = 0
    """Queries that skipped files by their places on the curve."""
    strategies: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    mismatches: list[str] = field(default_factory=list)
    """The mismatches. Each line begins with the command that repeats it."""

    @property
    def skipped(self) -> float:
        return (self.files - self.kept) / max(self.files, 1)

    def summary(self) -> str:
        return (
            f"seed {self.seed}: {self.queries:,} queries of {self.tables:,} tables, {self.by_duck:,} of them also in "
            f"DuckDB ({self.refused_by_duck:,} more it refused), {self.raised:,} raised an error without skipping; "
            f"{self.held:,} more on cached listings during an overwrite, {self.pairs:,} of conditions in both orders, "
            f"{self.pushed:,} of rewritten files with filters in Spark's readers and without; "
            f"{self.files - self.kept:,} of {self.files:,} files skipped ({self.skipped:.1%}), in "
            f"{self.by_curve:,} queries some by the curve, and in {self.by_values:,} by values; "
            f"the index answered for files in {self.answered:,} of "
            f"{self.asked:,} counts, extremes and first rows; {self.joins:,} joins, whose keys left out "
            f"{self.files_joined - self.kept_joined:,} of {self.files_joined:,} files; "
            f"{self.again:,} queries came again, and memory left out "
            f"{self.kept - self.kept_again:,} of {self.kept:,} files; "
            f"{self.strategies['incremental']} of {self.strategies.total()} OPTIMIZE were incremental; "
            f"{len(self.mismatches)} mismatches, {self.seconds:.0f} seconds"
        )


class Campaign:
    """Runs the tables of a seed. `say` gets a line for each table. A short run asks a few queries in one phase."""

    def __init__(
        self, session: SparkSession, folder: Path, seed: str, say: Callable[[str], None], short: bool = False
    ) -> None:
        assert session._jvm is not None
        self._session = session
        self._errors = session._jvm.org.sparkzorder.skipping.SkippingErrors
        self._folder = folder
        self._say = say
        self._phases_run, self._most = (1, 2) if short else (PHASES, BATCH)
        self.tally = Tally(seed)

    def run(self, enough: Callable[[Tally], bool]) -> Tally:
        """Run new tables until `enough` holds. A table always runs to its end."""
        while not enough(self.tally):
            self.table(self.tally.tables)
        return self.tally

    def table(self, number: int, only: int | None = None) -> Tally:
        """Run one table with all its queries, or with one of them, which is printed."""
        began = time.monotonic()
        tally = self.tally
        before = replace(tally)
        gave_up = self._errors.total()
        folder = self._folder / f"table-{number}"
        table = FuzzTable(self._session.newSession(), folder, self._source(number), number)
        try:
            self._phases(table, only)
        except (PySparkException, Py4JJavaError, RowsLostError, duckdb.Error, pa.ArrowException) as error:
            said = " ".join(str(error).split())
            if _is_of_the_writers_file(said):
                tally.raised += 1
            else:
                self._mismatch(number, None, f"{type(error).__name__} {said[:600]}; {table.words()}")
        finally:
            table.drop()
            shutil.rmtree(folder, ignore_errors=True)
        if self._errors.total() > gave_up:
            self._mismatch(number, only, f"skipping gave up with an error, see the log; {table.words()}")
        tally.tables += 1
        seconds = time.monotonic() - began
        tally.seconds += seconds
        files, kept = tally.files - before.files, tally.kept - before.kept
        self._say(f"table {number}: {files - kept} of {files} files skipped in {seconds:.0f} s, {table.words()}")
        return tally

    def _source(self, *what: object) -> Random:
        return Random("/".join(map(str, (self.tally.seed, *what))))

    def _phases(self, table: FuzzTable, only: int | None) -> None:
        history = History(table, self._source(table.number, "history"))
        try:
            self._phases_of(history, table, only)
        finally:
            self.tally.strategies += history.strategies

    def _phases_of(self, history: History, table: FuzzTable, only: int | None) -> None:
        for phase in range(self._phases_run):
            if phase == 0:
                history.begin()
            else:
                if only is None:
                    self._overwritten(table, history)
                history.go_on()
            first = phase * BATCHES * BATCH
            numbers = range(first, first + BATCHES * BATCH)
            if only is not None and only < first:
                return
            if only is None or only in numbers:
                copy = Copy(table)
                try:
                    for at in range(first, numbers.stop, BATCH):
                        batch = [q for q in range(at, at + self._most) if only in (None, q)]
                        if batch:
                            self._batch(table, copy, batch, shown=only is not None)
                finally:
                    copy.close()

    def _conditions(self, table: FuzzTable, columns: list[Column], any_case: bool, *what: object) -> Text:
        return Conditions(self._source(table.number, *what), columns, table.rows, any_case).condition()

    def _overwritten(self, table: FuzzTable, history: History) -> None:
        """Overwrite a file while the session has its listing, under the settings of the last questions."""
        names = table.called()
        columns = [replace(c, called=names.get(c.path[0])) for c in table.columns]
        any_case = table.spark.conf.get("spark.sql.caseSensitive") == "false"
        conditions = [self._conditions(table, columns, any_case, "held", n) for n in range(HELD)]
        held = Held(table, [c.spark.replace(TABLE, table.name) for c in conditions], self._source(table.number, "held"))
        history.overwrite()
        self.tally.held += HELD
        for wrong in held.wrong():
            self._mismatch(table.number, None, f"on a cached listing {wrong}; {table.words()}")

    def _batch(self, table: FuzzTable, copy: Copy, numbers: list[int], shown: bool) -> None:
        settings = sessions.using(self._source(table.number, "settings", numbers[0] // BATCH), table.twins)
        sessions.apply(table.spark, settings)
        common = alike(table, settings) & set(copy.columns)
        names = table.called()
        columns = [
            replace(c, alias=c.alias if c in common else None, called=names.get(c.path[0])) for c in table.columns
        ]
        any_case = settings["spark.sql.caseSensitive"] == "false"
        conditions = [self._conditions(table, columns, any_case, q) for q in numbers]
        questions = Questions(table.spark, table.relation(), [c.spark for c in conditions])
        self.tally.queries += len(numbers)
        kept, files, by_curve, by_values = questions.files()
        self.tally.by_curve += by_curve
        self.tally.by_values += by_values
        self.tally.kept += kept
        self.tally.files += files
        answers = list(_answers(questions, len(numbers)))
        for q, condition, answer in zip(numbers, conditions, answers, strict=True):
            by_duck = self._ask_duck(copy, condition)
            if shown:
                self._say("\n".join([*(f"{k}={v}" for k, v in settings.items()), f"WHERE {condition.spark}"]))
                self._say(f"{table.target}, {files - kept} of {files} files skipped: {answer}, DuckDB {by_duck}")
            self._judge(table, q, condition, answer, by_duck)
        self._ask_index(table, columns, numbers, conditions)
        self._ask_joins(table, columns, any_case, numbers, conditions)
        self._ask_again(table, questions, numbers, conditions, answers)
        if all("-zorder-" in path.name for path in table.in_any_order()):
            self._ask_readers(table, questions, numbers, conditions)
        for q, one, other in zip(numbers, conditions[::4], conditions[1::4], strict=False):
            query = both_orders(table.name, *(c.spark.replace(TABLE, table.name) for c in (one, other)))
            self.tally.pairs += 1
            wrong = lost(table.spark, query)
            if wrong is not None:
                self._mismatch(table.number, q, f"{wrong}; {table.words()}")

    def _ask_index(self, table: FuzzTable, columns: list[Column], numbers: list[int], conditions: list[Text]) -> None:
        for q, condition in zip(numbers, conditions, strict=True):
            asked = FromIndex(table, columns, self._source(table.number, "answered", q))
            query = asked.query(condition.spark)
            self.tally.asked += 1
            self.tally.answered += asked.answers(query)
            wrong = asked.wrong(query)
            if wrong is not None:
                self._mismatch(table.number, q, f"the index says {wrong}; {table.words()}")

    def _ask_joins(
        self, table: FuzzTable, columns: list[Column], any_case: bool, numbers: list[int], conditions: list[Text]
    ) -> None:
        for q, condition in zip(numbers, conditions, strict=True):
            r = self._source(table.number, "joined", q)
            joined = Joined(table, columns, Conditions(r, columns, table.rows, any_case), r)
            wrong = joined.wrong(joined.query(condition))
            self.tally.joins += 1
            self.tally.files_joined += joined.files
            self.tally.kept_joined += joined.kept
            if wrong is not None:
                self._mismatch(table.number, q, f"a join gives {wrong}; {table.words()}")

    def _ask_again(
        self,
        table: FuzzTable,
        questions: Questions,
        numbers: list[int],
        conditions: list[Text],
        answers: list[Answered],
    ) -> None:
        """Check the answers of queries that remember which files had no row."""
        self.tally.kept_again += questions.files()[0]
        for more in (None, "id % 3 <> 1"):
            found = questions.skipping(more)
            for q, condition, answer, ids in zip(numbers, conditions, answers, found or [], strict=False):
                if not isinstance(answer.without, str):
                    self.tally.again += 1
                    expected = [i for i in answer.without if more is None or i % 3 != 1]
                    if ids != expected:
                        self._mismatch(table.number, q, _line("memory", ids, expected, condition.spark, table))

    def _ask_readers(self, table: FuzzTable, questions: Questions, numbers: list[int], conditions: list[Text]) -> None:
        """Check that Spark's own readers skip no row of a rewritten table."""
        for n in range(0, len(numbers), 3):
            pushed, plain = (questions.filtered(n, skipping=False, pushdown=on) for on in (True, False))
            self.tally.pushed += 1
            if (
                table.form == "orc"
                and pushed == "FAILED_READ_FILE.NO_HINT"
                and _NULL_IN_LIST.search(conditions[n].spark)
            ):
                # Spark fails to tell ORC of a list with NULL in it, before it reads a row.
                self.tally.raised += 1
            elif isinstance(plain, list) and pushed != plain:
                self._mismatch(table.number, numbers[n], _line("a reader", pushed, plain, conditions[n].spark, table))

    def _ask_duck(self, copy: Copy, condition: Text) -> list[int] | None:
        if condition.duck is None:
            return None
        try:
            found = copy.ids(condition.duck)
        except (duckdb.ConversionException, duckdb.OutOfRangeException):
            # Spark rejects a literal outside of a type's range before it reads any row.
            self.tally.refused_by_duck += 1
            return None
        self.tally.by_duck += 1
        return found

    def _judge(self, table: FuzzTable, q: int, condition: Text, got: Answered, by_duck: list[int] | None) -> None:
        if isinstance(got.without, str):
            # An error that only a skipped row would have raised may be missing.
            self.tally.raised += 1
            return
        if got.skipping != got.without:
            self._mismatch(table.number, q, _line("skipping", got.skipping, got.without, condition.spark, table))
        if by_duck is not None and by_duck != got.evaluated:
            self._mismatch(table.number, q, _line("Spark", got.evaluated, by_duck, condition.spark, table))

    def _mismatch(self, table: int, query: int | None, what: str) -> None:
        one = "" if query is None else f" QUERY={query}"
        line = f"make fuzz SEED={self.tally.seed} TABLE={table}{one}  # {what}"
        self.tally.mismatches.append(line)
        self._say(line)


_NULL_IN_LIST = re.compile(r" IN \([^()]*(?:\([^()]*(?:\([^()]*\)[^()]*)*\)[^()]*)*NULL[,)]")


def _is_of_the_writers_file(error: str) -> bool:
    """Whether Spark refuses a schema that was given for ORC files of the table's writer, and not for files of ours."""
    return "ORC_TYPE_CAST" in error and "/part-" in error and "-zorder-" not in error


@dataclass(frozen=True)
class Answered:
    """The answers to one condition."""

    skipping: Answer
    without: Answer
    """The ids by the filter, or by evaluating every row if those equal `skipping`."""
    evaluated: Answer
    """The ids by evaluating every row."""


def _answers(questions: Questions, count: int) -> Iterator[Answered]:
    evaluated, skipping = questions.evaluated(), questions.skipping()
    for n in range(count):
        found = skipping[n] if skipping else questions.filtered(n, skipping=True)
        # Spark's reader of Parquet does not find 0.0 where a dictionary has only -0.0.
        value: Answer = evaluated[n] if evaluated else questions.filtered(n, skipping=False, pushdown=False)
        # Spark may answer a filter differently from the same expression in a projection: `x NOT IN (.., NULL)` is never
        # true as a filter, but true of NaN where an InSet is evaluated. The filter without skipping is right.
        without = value if found == value else questions.filtered(n, skipping=False)
        yield Answered(found, without, value)


def _line(who: str, found: Answer, expected: Answer, condition: str, table: FuzzTable) -> str:
    def short(answer: Answer) -> str:
        return answer if isinstance(answer, str) else f"{len(answer)} rows"

    return f"{who} says {short(found)}, not {short(expected)}: WHERE {condition[:200]}; {table.words()}"
