"""Counts rows of Parquet folders with many readers. Prints JSON: reader, form of the path, and rows or an error.

Runs in `build/envs/readers` (`make readers`), which has the readers and not this project. Spark runs in the
environment of the tests.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

FORMS = ("", "/*", "/*.parquet", "/**", "/**/*.parquet")


def _module(name: str) -> Any:
    """Make a reader that only `build/envs/readers` has."""
    return importlib.import_module(name)


def _pandas(path: str) -> int:
    return len(_module("pandas").read_parquet(path, engine="pyarrow"))


def _fastparquet(path: str) -> int:
    return len(_module("pandas").read_parquet(path, engine="fastparquet"))


def _pyarrow(path: str) -> int:
    return int(_module("pyarrow.parquet").read_table(path).num_rows)


def _dataset(path: str) -> int:
    return int(_module("pyarrow.dataset").dataset(path, format="parquet", partitioning="hive").count_rows())


def _dataset_of_all(path: str) -> int:
    return int(_module("pyarrow.dataset").dataset(path, format="parquet", ignore_prefixes=[]).to_table().num_rows)


def _polars(path: str) -> int:
    return len(_module("polars").read_parquet(path))


def _polars_scan(path: str) -> int:
    polars = _module("polars")
    return int(polars.scan_parquet(path).select(polars.len()).collect().item())


def _duckdb(path: str) -> int:
    return int(_module("duckdb").sql(f"SELECT count(*) FROM read_parquet('{path}')").fetchall()[0][0])


def _datafusion(path: str) -> int:
    return int(_module("datafusion").SessionContext().read_parquet(path).count())


def _daft(path: str) -> int:
    return int(_module("daft").read_parquet(path).count_rows())


def _dask(path: str) -> int:
    return len(_module("dask.dataframe").read_parquet(path))


def _clickhouse(path: str) -> int:
    return int(str(_module("chdb").query(f"SELECT count() FROM file('{path}', Parquet)", "CSV")).strip())


def _ray(path: str) -> int:
    ray = _module("ray")
    _module("ray.data")
    if not ray.is_initialized():
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    return int(ray.data.read_parquet(path).count())


def _spark(path: str) -> int:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    return int(builder.getOrCreate().read.parquet(path).count())


READERS: dict[str, Callable[[str], int]] = {
    "pandas": _pandas,
    "pandas, fastparquet": _fastparquet,
    "pyarrow.parquet": _pyarrow,
    "pyarrow.dataset": _dataset,
    "pyarrow.dataset, ignore_prefixes=[]": _dataset_of_all,
    "Polars read_parquet": _polars,
    "Polars scan_parquet": _polars_scan,
    "DuckDB": _duckdb,
    "DataFusion": _datafusion,
    "Daft": _daft,
    "Dask": _dask,
    "ClickHouse (chdb)": _clickhouse,
    "Ray Data": _ray,
    "Spark without the extension": _spark,
}


def main(folder: str, names: list[str]) -> None:
    """Count the rows of a folder by each form of path."""
    warnings.simplefilter("ignore")
    os.environ.setdefault("RAY_DEDUP_LOGS", "0")
    for name in names or [r for r in READERS if not r.startswith("Spark")]:
        for form in FORMS:
            try:
                found: int | str = READERS[name](folder + form)
            except BaseException as e:
                found = (str(e).strip().splitlines() or [type(e).__name__])[0][:120]
            print(json.dumps([name, form, found]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
