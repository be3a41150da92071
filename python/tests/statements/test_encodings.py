"""A rewrite writes no encoding for a type that no old file has for it, so readers of old files read new ones."""

import importlib
import random
from collections import Counter
from collections.abc import Callable
from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

ROWS = 400
KEYS = [i * 7919 % ROWS for i in range(ROWS)]

KNOWN = {"PLAIN", "RLE", "BIT_PACKED", "PLAIN_DICTIONARY", "RLE_DICTIONARY"}
"""The encodings that every reader reads for every type."""

ALL = {"parquet.writer.version": "v2", "parquet.enable.dictionary": "false", "parquet.enable.bytestreamsplit": "true"}
"""With these settings parquet-java writes all the encodings that it has."""

DELTAS = {
    "INT32": ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "INT64": ["DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT"],
    "BYTE_ARRAY": ["DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY"],
    "FIXED_LEN_BYTE_ARRAY": ["DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT"],
    "FLOAT": ["BYTE_STREAM_SPLIT"],
    "DOUBLE": ["BYTE_STREAM_SPLIT"],
}
"""What pyarrow can write, by the type of a column."""


def columns(generator: random.Random) -> dict[str, pa.Array]:
    """Columns of every physical type."""
    return {
        "k": pa.array(KEYS, pa.int32()),
        "i64": pa.array([n * 10**12 for n in KEYS], pa.int64()),
        "f32": pa.array([n / 3 for n in KEYS], pa.float32()),
        "f64": pa.array([n / 3 for n in KEYS], pa.float64()),
        "b": pa.array([n % 3 == 0 if n % 5 else None for n in KEYS], pa.bool_()),
        "s": pa.array([f"text {n}" if n % 7 else None for n in KEYS]),
        "fix": pa.array([generator.randbytes(13) for _ in KEYS], pa.binary(13)),
        "d30": pa.array([Decimal(n) / 4 for n in KEYS], pa.decimal128(30, 2)),
        "date": pa.array([date(2020, 1, 1) + timedelta(n) for n in KEYS]),
        "l": pa.array([[f"e{n}"] * (n % 3) for n in KEYS]),
    }


def by_arrow(folder: Path, spark: SparkSession, generator: random.Random) -> None:
    chosen = columns(generator)
    names = ["k", *generator.sample([c for c in chosen if c != "k"], generator.randrange(1, len(chosen)))]
    table = pa.table({name: chosen[name] for name in names})
    parquet.write_table(table, folder / "types.parquet")
    group = parquet.read_metadata(folder / "types.parquet").row_group(0)
    types = {group.column(i).path_in_schema: group.column(i).physical_type for i in range(group.num_columns)}
    (folder / "types.parquet").unlink()
    dense = generator.choice([0.2, 1])
    for number in range(2):
        encodings = {
            path: generator.choice(DELTAS[kind])
            for path, kind in types.items()
            if kind in DELTAS and generator.random() < dense
        }
        parquet.write_table(
            table.slice(number * ROWS // 2, ROWS // 2),
            folder / f"in-{number}.parquet",
            data_page_version=generator.choice(["1.0", "2.0"]),
            compression="zstd",
            use_dictionary=[path for path in types if path not in encodings and generator.random() < 0.5],
            column_encoding=encodings,
        )


def by_spark(folder: Path, spark: SparkSession, generator: random.Random) -> None:
    exprs = ["id * 10 i64", "id / 3 f", "id % 3 = 0 b", "string(id) s", "decimal(id) / 7 d", "timestamp_seconds(id) t"]
    chosen = generator.sample(exprs, generator.randrange(1, len(exprs)))
    rows = spark.range(0, ROWS, 1, 2).selectExpr(f"int(id * 7919 % {ROWS}) k", *chosen)
    settings = {key: value for key, value in ALL.items() if generator.random() < 0.7}
    rows.write.mode("append").options(**settings).parquet(str(folder))


def by_duckdb(folder: Path, spark: SparkSession, generator: random.Random) -> None:
    for number in range(2):
        duckdb.sql(
            f"COPY (SELECT (i * 7919 % {ROWS})::INTEGER k, i::DECIMAL(30, 2) d, i % 3 = 0 b, (i / 3)::DOUBLE f, "
            f"'x' || i s FROM range({number * ROWS // 2}, {(number + 1) * ROWS // 2}) t(i)) "
            f"TO '{folder}/in-{number}.parquet' (FORMAT parquet, PARQUET_VERSION {generator.choice(['V1', 'V2'])})"
        )


def by_polars(folder: Path, spark: SparkSession, generator: random.Random) -> None:
    table = pa.table(columns(generator)).drop_columns(["date"])
    for number in range(2):
        frame = importlib.import_module("polars").from_arrow(table.slice(number * ROWS // 2, ROWS // 2))
        frame.write_parquet(folder / f"in-{number}.parquet")


def files(folder: Path) -> list[str]:
    return sorted(map(str, folder.glob("*.parquet")))


def encodings_of(folder: Path) -> set[tuple[str, str]]:
    """The encodings in the footers, by the types of their columns."""
    groups = [(m, g) for m in map(parquet.read_metadata, files(folder)) for g in range(m.num_row_groups)]
    chunks = [m.row_group(g).column(i) for m, g in groups for i in range(m.num_columns)]
    return {(c.physical_type, encoding) for c in chunks for encoding in c.encodings} - {
        (c.physical_type, encoding) for c in chunks for encoding in KNOWN
    }


def counted(rows: list[Any]) -> Counter[str]:
    return Counter(map(repr, rows))


def by_fastparquet(folder: Path) -> Counter[str]:
    frame = importlib.import_module("fastparquet").ParquetFile(files(folder)).to_pandas()
    return counted(frame.astype(object).where(frame.notna(), None).to_dict("records"))


READERS: dict[str, Callable[[Path], Counter[str]]] = {
    "pyarrow": lambda folder: counted(pa.concat_tables(map(parquet.read_table, files(folder))).to_pylist()),
    "polars": lambda folder: counted(importlib.import_module("polars").read_parquet(files(folder)).rows()),
    "duckdb": lambda folder: counted(duckdb.execute(f"FROM read_parquet('{folder}/*.parquet')").fetchall()),
    "fastparquet": by_fastparquet,
}


def read_or_none(read: Callable[[Path], Counter[str]], folder: Path) -> Counter[str] | None:
    try:
        return read(folder)
    except BaseException:  # Polars panics.
        return None


def seen(folder: Path) -> dict[str, Counter[str] | None]:
    """The rows as each reader reads them, or none if it fails."""
    return {name: read_or_none(read, folder) for name, read in READERS.items()}


def right_answers(folder: Path, plain: Path) -> dict[str, Counter[str] | None]:
    """The rows of readers that read the same from plain pages. fastparquet 2026.9 misreads some differences."""
    plain.mkdir()
    for number, file in enumerate(files(folder)):
        parquet.write_table(parquet.read_table(file), plain / f"{number}.parquet", use_dictionary=False)
    truth = seen(plain)
    return {name: rows for name, rows in seen(folder).items() if rows is not None and rows == truth[name]}


@pytest.mark.parametrize("settings", ["with settings", "without"])
@pytest.mark.parametrize("writer", [by_arrow, by_spark, by_duckdb, by_polars])
def test_no_encoding_is_new_for_a_type(
    spark: SparkSession, tmp_path: Path, writer: Callable[[Path, SparkSession, random.Random], None], settings: str
) -> None:
    if settings == "with settings":
        for key, value in ALL.items():
            spark.conf.set(key, value)
    for seed in range(5 if writer in (by_arrow, by_spark) else 2):
        folder = tmp_path / str(seed)
        folder.mkdir()
        writer(folder, spark, random.Random(seed))
        before, answers = encodings_of(folder), right_answers(folder, tmp_path / f"plain-{seed}")
        # The others cannot read each encoding that pyarrow writes.
        assert set(answers) >= {"pyarrow"}
        spark.sql(f"OPTIMIZE parquet.`{folder}` ZORDER BY (k) OPTIONS ('num-files' = '2')").collect()
        assert encodings_of(folder) <= before, seed
        assert {name: rows for name, rows in seen(folder).items() if name in answers} == answers, seed


def test_files_that_have_all_encodings_get_them_again(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "all"
    rows = spark.range(ROWS).selectExpr("int(id) k", "id i", "id / 3 f", "string(id) s", "id > 9 b")
    rows.repartition(2).write.options(**ALL).parquet(str(folder))
    before = encodings_of(folder)
    assert len(before) == 4
    for key, value in ALL.items():
        spark.conf.set(key, value)
    spark.sql(f"OPTIMIZE parquet.`{folder}` ZORDER BY (k) OPTIONS ('num-files' = '2')").collect()
    assert encodings_of(folder) == before


def test_fixed_binaries_without_a_dictionary_stay_plain_beside_differences(spark: SparkSession, tmp_path: Path) -> None:
    made = columns(random.Random(1))
    table = pa.table({name: made[name] for name in ("k", "fix", "d30")})
    for number in range(2):
        parquet.write_table(
            table.slice(number * ROWS // 2, ROWS // 2),
            tmp_path / f"in-{number}.parquet",
            data_page_version="2.0",
            compression="zstd",
            use_dictionary=False,
            column_encoding={"k": "DELTA_BINARY_PACKED"},
        )
    answers = seen(tmp_path)
    assert None not in answers.values()
    spark.conf.set("parquet.enable.dictionary", "false")
    spark.sql(f"OPTIMIZE parquet.`{tmp_path}` ZORDER BY (k) OPTIONS ('num-files' = '2')").collect()
    # Polars 2.1 cannot read differences of fixed binaries.
    assert seen(tmp_path) == answers
    [last] = spark.sql(f"DESCRIBE HISTORY parquet.`{tmp_path}`").where("version = 1").collect()
    assert "encodings DELTA_BINARY_PACKED (the files lack some" in last.operationMetrics["notKept"]


def test_differences_in_pages_of_version_1_stay_out_of_those_of_version_2(spark: SparkSession, tmp_path: Path) -> None:
    for number in range(2):
        duckdb.sql(
            "COPY (SELECT range::BIGINT AS k, CASE WHEN range % 5 = 0 THEN NULL ELSE (range * 7)::INT END AS v"
            f" FROM range({number * 100}, {number * 100 + 100}))"
            f" TO '{tmp_path}/in-{number}.parquet' (FORMAT parquet, PARQUET_VERSION V2)"
        )
    assert ("INT32", "DELTA_BINARY_PACKED") in encodings_of(tmp_path)
    answers = seen(tmp_path)
    assert None not in answers.values()
    spark.sql(f"OPTIMIZE parquet.`{tmp_path}` ZORDER BY (k) OPTIONS ('num-files' = '2')").collect()
    # fastparquet knows no differences with nulls in pages of version 2.
    assert seen(tmp_path) == answers
