"""Categories of pandas, Arrow and Polars after OPTIMIZE: no reader finds them in another order without a word."""

import importlib
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet
from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

ROWS = 60
KEYS = [i * 7919 % ROWS for i in range(ROWS)]
SIZES = ["low", "mid", "high"]
VALUES = [SIZES[(k + 2) % 3] for k in KEYS]
LOST = "the order of the categories of"


def files(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.parquet"))


def optimize(spark: SparkSession, folder: Path) -> str:
    """Run OPTIMIZE. Returns what the history lists as not kept."""
    spark.sql(f"OPTIMIZE parquet.`{folder}` FULL ZORDER BY (k) OPTIONS ('num-files' = '3')").collect()
    assert len(files(folder)) == 3
    last = spark.sql(f"DESCRIBE HISTORY parquet.`{folder}`").orderBy("version").collect()[-1]
    return str(last["operationMetrics"].get("notKept", ""))


def sizes(categories: list[str], values: list[str] = VALUES) -> pd.Categorical:
    return pd.Categorical(values, categories=categories, ordered=True)


def write(folder: Path, frame: pd.DataFrame, engine: str) -> None:
    folder.mkdir()
    for number in range(2):
        part = frame.iloc[number * ROWS // 2 : (number + 1) * ROWS // 2]
        part.to_parquet(folder / f"in-{number}.parquet", engine=engine)


def rows(frame: pd.DataFrame) -> list[tuple[Any, ...]]:
    return sorted(zip(frame["k"].astype(int), frame["c"].astype(str), strict=True))


@pytest.mark.parametrize("engine", ["pyarrow", "fastparquet"])
@pytest.mark.parametrize("categories", [SIZES, ["low", "mid", "never", "high"]])
def test_pandas_categories_lose_order(spark: SparkSession, tmp_path: Path, engine: str, categories: list[str]) -> None:
    folder = tmp_path / "t"
    write(folder, pd.DataFrame({"k": KEYS, "c": sizes(categories)}), engine)
    readers = ["pyarrow", "fastparquet"]
    before = {reader: rows(pd.read_parquet(folder, engine=reader)) for reader in readers}
    for _ in range(2):
        lost = optimize(spark, folder)
        assert f"{LOST} `c`" in lost or engine == "fastparquet"
        assert {reader: rows(pd.read_parquet(folder, engine=reader)) for reader in readers} == before
        for found in [pd.read_parquet(f)["c"] for f in [folder, *files(folder)]]:
            if engine == "pyarrow":
                assert found.dtype == "category"
                with pytest.raises(TypeError):
                    _ = found < "mid"
            assert not getattr(found.dtype, "ordered", False)


def test_ordered_categories_of_fastparquet_are_reported(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "t", pd.DataFrame({"k": KEYS, "c": sizes(SIZES)}), "fastparquet")
    assert f"`pandas` ({LOST} `c`" in optimize(spark, tmp_path / "t").replace("labels of a RangeIndex; ", "")


@pytest.mark.parametrize("reader", ["pyarrow", "fastparquet"])
def test_an_index_of_categories_stays_the_index(spark: SparkSession, tmp_path: Path, reader: str) -> None:
    folder = tmp_path / "t"
    write(folder, pd.DataFrame({"k": KEYS}, index=pd.CategoricalIndex(sizes(SIZES), name="c")), "pyarrow")
    before = rows(pd.read_parquet(folder, engine=reader).reset_index())
    assert f"{LOST} `c`" in optimize(spark, folder)
    found = pd.read_parquet(folder, engine=reader)
    assert list(found.index.names) == ["c"]
    assert rows(found.reset_index()) == before


def test_an_index_whose_type_the_files_dispute_stays_the_index(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    for number, kind in enumerate(["int64", "Int64"]):
        values = KEYS[number * 30 : number * 30 + 30]
        index = pd.Index(pd.array(values, dtype=kind), name="i")
        pd.DataFrame({"k": values}, index=index).to_parquet(folder / f"in-{number}.parquet")
    assert "the files differ on `i`" in optimize(spark, folder)
    for file in files(folder):
        found = pd.read_parquet(file)
        assert found.index.name == "i"
        assert list(found.index) == list(found["k"])


def test_files_with_other_categories_are_one_table(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    for number, categories in enumerate([SIZES, SIZES[::-1]]):
        part = slice(number * ROWS // 2, (number + 1) * ROWS // 2)
        frame = pd.DataFrame({"k": KEYS[part], "c": sizes(categories, VALUES[part])})
        frame.to_parquet(folder / f"in-{number}.parquet")
    before = sorted(row for f in files(folder) for row in rows(pd.read_parquet(f)))
    assert f"{LOST} `c`" in optimize(spark, folder)
    assert rows(pd.read_parquet(folder)) == before
    assert not pd.read_parquet(folder)["c"].dtype.ordered


def test_dictionaries_of_arrow_stay_and_are_not_ordered(spark: SparkSession, tmp_path: Path) -> None:
    codes = pa.array([SIZES.index(v) for v in VALUES], pa.int16())
    ordered = pa.DictionaryArray.from_arrays(codes, pa.array(SIZES), ordered=True)
    table = pa.table({"k": KEYS, "c": ordered, "s": pa.StructArray.from_arrays([ordered], ["x"])})
    folder = tmp_path / "t"
    folder.mkdir()
    for number in range(2):
        parquet.write_table(table.slice(number * 30, 30), folder / f"in-{number}.parquet")
    before = sorted(map(repr, parquet.read_table(folder).to_pylist()))
    lost = optimize(spark, folder)
    assert f"`ARROW:schema` ({LOST} `c`, `x`, and those without rows)" in lost
    for file in files(folder):
        kind = parquet.read_table(file).schema.field("c").type
        assert kind.value_type == pa.string()
        assert not kind.ordered
    assert sorted(map(repr, parquet.read_table(folder).to_pylist())) == before


@pytest.mark.parametrize("nested", [False, True])
def test_enums_of_polars_keep_order_and_categories(spark: SparkSession, tmp_path: Path, nested: bool) -> None:
    polars = importlib.import_module("polars")
    enum = polars.Enum(["low", "never", "mid", "high"])
    column = polars.Series([[v] if nested else v for v in VALUES], dtype=polars.List(enum) if nested else enum)
    frame = polars.DataFrame({"k": polars.Series(KEYS, dtype=polars.Int32), "c": column})
    folder = tmp_path / "t"
    folder.mkdir()
    for number in range(2):
        frame.slice(number * 30, 30).write_parquet(folder / f"in-{number}.parquet")
    optimize(spark, folder)
    scan = polars.scan_parquet(f"{folder}/*.parquet")
    after = scan.collect()
    assert after.schema == frame.schema
    assert sorted(after.rows()) == sorted(frame.rows())
    if not nested:
        assert after["c"].max() == "high"
        assert scan.filter(polars.col("c") < "mid").collect().height == VALUES.count("low")
        # pandas finds the categories in dictionaries, where they are in another order.
        assert not pd.read_parquet(folder)["c"].dtype.ordered


def test_the_metadata_of_pandas_names_every_column(spark: SparkSession, tmp_path: Path) -> None:
    write(tmp_path / "t", pd.DataFrame({"k": KEYS, "c": sizes(SIZES), "t": VALUES}), "pyarrow")
    optimize(spark, tmp_path / "t")
    for file in files(tmp_path / "t"):
        found = json.loads(parquet.read_metadata(file).metadata[b"pandas"])["columns"]
        assert [(c["name"], c["pandas_type"]) for c in found] == [("k", "int64"), ("c", "mixed"), ("t", "unicode")]
