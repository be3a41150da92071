"""Counts rows of Parquet folders with many readers. Prints JSON: reader, form of the path, and rows or an error.

Runs in `build/envs/readers` (`make readers`), without this project. Spark runs in the environment of the tests.
"""

import importlib
import json
import os
import sys
import warnings
from collections.abc import Callable
from typing import Any

FORMS = ("", "/*", "/*.parquet", "/**", "/**/*.parquet")


def module(name: str) -> Any:
    """Make a reader that only `build/envs/readers` has."""
    return importlib.import_module(name)


def _dataset(path: str, **options: Any) -> Any:
    return module("pyarrow.dataset").dataset(path, format="parquet", **options)


def _ray(path: str) -> int:
    ray = module("ray")
    module("ray.data")
    if not ray.is_initialized():
        ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False, logging_level="ERROR")
    return int(ray.data.read_parquet(path).count())


def _spark(path: str) -> int:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    return int(builder.getOrCreate().read.parquet(path).count())


def _polars(path: str) -> int:
    polars = module("polars")
    return int(polars.scan_parquet(path).select(polars.len()).collect().item())


READERS: dict[str, Callable[[str], int]] = {
    "pandas": lambda path: len(module("pandas").read_parquet(path, engine="pyarrow")),
    "pandas, fastparquet": lambda path: len(module("pandas").read_parquet(path, engine="fastparquet")),
    "pyarrow.parquet": lambda path: int(module("pyarrow.parquet").read_table(path).num_rows),
    "pyarrow.dataset": lambda path: int(_dataset(path, partitioning="hive").count_rows()),
    "pyarrow.dataset, ignore_prefixes=[]": lambda path: int(_dataset(path, ignore_prefixes=[]).to_table().num_rows),
    "Polars read_parquet": lambda path: len(module("polars").read_parquet(path)),
    "Polars scan_parquet": _polars,
    "DuckDB": lambda path: int(module("duckdb").sql(f"SELECT count(*) FROM read_parquet('{path}')").fetchone()[0]),
    "DataFusion": lambda path: int(module("datafusion").SessionContext().read_parquet(path).count()),
    "Daft": lambda path: int(module("daft").read_parquet(path).count_rows()),
    "Dask": lambda path: len(module("dask.dataframe").read_parquet(path)),
    "ClickHouse (chdb)": lambda path: int(
        str(module("chdb").query(f"SELECT count() FROM file('{path}', Parquet)", "CSV")).strip()
    ),
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
