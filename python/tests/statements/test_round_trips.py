"""Values of every type, nested three deep, stay the same in OPTIMIZE, for Spark and for the library that wrote them."""

import struct
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession
from round_trips import by_spark
from round_trips.seen import exact
from round_trips.shapes import SHAPES
from round_trips.writers import ORC, PARQUET, Writer, files

WRITERS = (*PARQUET, ORC)
SOME = 1
"""The number of ways in which `make test` nests each type. The types take turns with the ways."""

each = pytest.mark.parametrize(
    "each", [SOME, pytest.param(len(SHAPES), marks=pytest.mark.test_all)], ids=["some", "all"]
)


@pytest.fixture(autouse=True)
def times(spark: SparkSession) -> None:
    """Let Spark read the type TIME."""
    spark.conf.set("spark.sql.timeType.enabled", "true")


def schemas(folder: Path) -> set[str]:
    """The Parquet schemas of the files, without their names."""
    return {str(parquet.ParquetFile(f).schema).split("\n", 1)[1] for f in files(folder)}


def check(spark: SparkSession, folder: Path, writer: Writer) -> None:
    before, before_of_spark = writer.read(files(folder, writer.form)), by_spark.read(spark, folder, writer.form)
    assert len(before.values["k"]) == len(set(before.values["k"])) == len(before_of_spark.values["k"])
    types = schemas(folder) if writer.form == "parquet" else set()
    spark.sql(f"OPTIMIZE {writer.form}.`{folder}` ZORDER BY (k) OPTIONS ('num-files' = '3')").collect()
    after = files(folder, writer.form)
    assert len(after) >= 2
    assert not any(f.name.startswith("in-") for f in after)
    changes = {
        writer.name: writer.read(after).changes(before),
        "Spark": by_spark.read(spark, folder, writer.form).changes(before_of_spark),
        "types in the files": sorted(schemas(folder) ^ types) if types else [],
    }
    assert not any(changes.values()), "\n".join(f"{who}: {line}" for who, lines in changes.items() for line in lines)


@pytest.mark.test_rest
@each
@pytest.mark.parametrize("writer", WRITERS, ids=lambda w: f"{w.name}-{w.form}")
def test_the_writer_and_spark_see_the_same(spark: SparkSession, tmp_path: Path, writer: Writer, each: int) -> None:
    writer.write_folder(tmp_path / "t", each)
    check(spark, tmp_path / "t", writer)


@pytest.mark.test_rest
@each
@pytest.mark.parametrize("reader", [PARQUET[0], ORC], ids=lambda w: w.form)
def test_files_of_spark_have_the_same_values(spark: SparkSession, tmp_path: Path, reader: Writer, each: int) -> None:
    source = replace(PARQUET[0], name=f"Spark-{reader.form}", kinds=reader.kinds)
    source.write_folder(tmp_path / "source", each)
    by_spark.write(spark, tmp_path / "source", tmp_path / "t", reader.form)
    check(spark, tmp_path / "t", reader)


def test_each_nan_becomes_the_one_of_java(spark: SparkSession, tmp_path: Path) -> None:
    nans = [struct.unpack("<d", struct.pack("<Q", bits))[0] for bits in (0x7FF8000000000000, 0xFFF8000060000000)]
    column = pa.array(nans * 20, pa.float64())
    bits = Counter(exact(column))
    (tmp_path / "t").mkdir()
    for i in range(2):
        parquet.write_table(
            pa.table({"k": range(i * 40, i * 40 + 40), "x": column}), tmp_path / "t" / f"in-{i}.parquet"
        )
    assert Counter(PARQUET[0].read(files(tmp_path / "t")).values["x"]) == bits + bits
    spark.sql(f"OPTIMIZE parquet.`{tmp_path / 't'}` ZORDER BY (k) OPTIONS ('num-files' = '2')").collect()
    assert Counter(PARQUET[0].read(files(tmp_path / "t")).values["x"]) == {0x7FF8000000000000: 80}
