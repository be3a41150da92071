"""Asks readers questions about folders. Prints JSON: the reader, the folder, and an answer for each question.

An answer is a number of rows, aggregates as a text, an error, or null for a question that the reader cannot be asked.
Runs in `build/envs/readers` (`make readers`), without this project, and for Spark in the environment of the tests.
"""

import json
import sys
import warnings
from collections.abc import Callable, Iterable
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

from reader_questions import AGGREGATES, Question, load
from readers import module

Answers = list[Any]
Answer = Callable[[Question], Any]


def _text(aggregates: Iterable[Any]) -> str:
    """The text of aggregates. There, -0.0 is 0.0."""
    return ", ".join(str(v + 0.0 if isinstance(v, float) else v) for v in aggregates)


def _aggregates(question: Question) -> str:
    c = question.column
    return f"min({c}), max({c}), count({c})"


def _pyarrow(folder: Path) -> Answer:
    dataset, compute, arrow = module("pyarrow.dataset"), module("pyarrow.compute"), module("pyarrow")
    data = dataset.dataset(str(folder), format="parquet" if list(folder.glob("*.parquet")) else "orc")

    def answer(q: Question) -> Any:
        if q.ask == AGGREGATES:
            return None
        path = q.column.split(".")
        column = compute.field(*path)
        kind = data.schema.field(path[0]).type
        kind = kind.field(path[1]).type if len(path) > 1 else kind
        values = [arrow.scalar(v, kind) for v in q.parsed]
        return data.count_rows(filter=_expression(column, q.ask, values))

    return answer


def _expression(column: Any, ask: str, values: list[Any]) -> Any:
    """A predicate of pyarrow or Polars."""
    operators = {"=": "__eq__", "<>": "__ne__", "<": "__lt__", "<=": "__le__", ">": "__gt__", ">=": "__ge__"}
    if ask == "IN":
        return column.isin(values) if hasattr(column, "isin") else column.is_in(values)
    if ask == "IS NULL":
        return column.is_null()
    if ask == "IS NOT NULL":
        return column.is_valid() if hasattr(column, "is_valid") else column.is_not_null()
    return getattr(column, operators[ask])(values[0])


def _polars(folder: Path) -> Answer:
    polars = module("polars")
    lazy = polars.scan_parquet(f"{folder}/*.parquet")
    schema = lazy.collect_schema()

    def answer(q: Question) -> Any:
        path = q.column.split(".")
        column = polars.col(path[0]).struct.field(path[1]) if len(path) > 1 else polars.col(path[0])
        if q.ask == AGGREGATES:
            return _text(lazy.select(column.min().alias("a"), column.max().alias("b"), column.count()).collect().row(0))
        kind = schema[path[0]].fields[0].dtype if len(path) > 1 else schema[path[0]]
        values = q.parsed if q.ask == "IN" else [polars.lit(v, kind) for v in q.parsed]
        kept = polars.Series(values, dtype=kind) if q.ask == "IN" else values
        return lazy.filter(_expression(column, q.ask, kept)).select(polars.len()).collect().item()

    return answer


def _duckdb(folder: Path) -> Answer:
    connection = module("duckdb").connect(config={"threads": 1})
    connection.sql("SET TimeZone = 'UTC'")
    table = f"read_parquet('{folder}/*.parquet')"

    def answer(q: Question) -> Any:
        if q.ask == AGGREGATES:
            texts = f"CAST(min({q.column}) AS VARCHAR), CAST(max({q.column}) AS VARCHAR), count({q.column})"
            return _text(connection.sql(f"SELECT {texts} FROM {table}").fetchall()[0]).replace("-0.0", "0.0")
        return connection.sql(f"SELECT count(*) FROM {table} WHERE {q.sql('duckdb')}").fetchall()[0][0]

    return answer


def _datafusion(folder: Path) -> Answer:
    made = module("datafusion")
    config = made.SessionConfig().with_target_partitions(1)
    # Filters within row groups are off by default. Page indexes and Bloom filters are used.
    config = config.set("datafusion.execution.parquet.pushdown_filters", "true")
    context = made.SessionContext(config)
    context.register_parquet("t", str(folder))

    def answer(q: Question) -> Any:
        if q.ask == AGGREGATES:
            batches = context.sql(f"SELECT {_aggregates(q)} FROM t").collect()
            return _text(column[0].as_py() for column in batches[0].columns)
        batches = context.sql(f"SELECT count(*) FROM t WHERE {q.sql('datafusion')}").collect()
        return batches[0].column(0)[0].as_py()

    return answer


def _of_pandas(value: Any) -> Any:
    """A value as fastparquet's frames have it: decimals are floats, and moments are without a zone."""
    if isinstance(value, Decimal):
        return float(value)
    return module("pandas").Timestamp(value).tz_localize(None) if isinstance(value, date) else value


def _fastparquet(folder: Path) -> Answer:
    data = module("fastparquet").ParquetFile(sorted(str(f) for f in folder.glob("*.parquet")))
    operators = {"=": "==", "<>": "!=", "IN": "in"}

    def answer(q: Question) -> Any:
        if not q.values:
            return None
        values = [_of_pandas(v) for v in q.parsed]
        value = values if q.ask == "IN" else values[0]
        filters = [[(q.column, operators.get(q.ask, q.ask), value)]]
        return len(data.to_pandas(columns=["k"], filters=filters, row_filter=True))

    return answer


def _clickhouse(folder: Path) -> Answer:
    session = module("chdb.session").Session()
    form = "Parquet" if list(folder.glob("*.parquet")) else "ORC"
    table = f"file('{folder}/*.{form.lower()}', {form})"

    def answer(q: Question) -> Any:
        if q.ask == AGGREGATES:
            return str(session.query(f"SELECT {_aggregates(q)} FROM {table}", "CSV")).strip().replace("-0,", "0,")
        return int(str(session.query(f"SELECT count() FROM {table} WHERE {q.sql('chdb')}", "CSV")).strip())

    return answer


READERS: dict[str, Callable[[Path], Answer]] = {
    "pyarrow.dataset": _pyarrow,
    "Polars scan_parquet": _polars,
    "DuckDB": _duckdb,
    "DataFusion": _datafusion,
    "fastparquet": _fastparquet,
    "ClickHouse (chdb)": _clickhouse,
}
OF_ORC = ("pyarrow.dataset", "ClickHouse (chdb)")


def _safe(answer: Answer, question: Question) -> Any:
    try:
        return answer(question)
    except BaseException as e:
        return f"error: {(str(e).strip().splitlines() or [type(e).__name__])[0][:120]}"


def main(questions: list[Question], folders: list[Path], names: Iterable[str]) -> None:
    warnings.simplefilter("ignore")
    for name in names:
        for folder in folders:
            answer = READERS[name](folder)
            print(json.dumps([name, folder.name, [_safe(answer, q) for q in questions]]), flush=True)


if __name__ == "__main__":
    main(load(Path(sys.argv[1])), [Path(f) for f in sys.argv[2].split(",")], sys.argv[3:] or READERS)
