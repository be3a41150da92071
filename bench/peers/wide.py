"""Makes TPC-H's wide table as plain files, and counts the files that lookups touch."""

from __future__ import annotations

import shutil
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import SparkSession

KEYS = ("l_suppkey", "o_custkey", "l_partkey")
TABLES = ("lineitem", "orders", "customer", "supplier", "part")
JOIN = """
SELECT * EXCEPT (o_orderkey, c_custkey, s_suppkey, p_partkey, c_comment, s_comment, p_comment)
FROM lineitem JOIN orders ON l_orderkey = o_orderkey JOIN customer ON o_custkey = c_custkey
JOIN supplier ON l_suppkey = s_suppkey JOIN part ON l_partkey = p_partkey
"""


def make(spark: SparkSession, scale: float, work: Path, tpchgen: Path) -> Path:
    """Write the wide table in 64 plain Parquet files, with rows in the order of a hash."""
    from pyspark.sql.functions import xxhash64

    table = work / f"wide-{scale:g}"
    if not (table / "_SUCCESS").exists():
        source = work / f"source-{scale:g}"
        command = [
            str(tpchgen),
            "parquet",
            "-s",
            f"{scale:g}",
            "--tables",
            ",".join(TABLES),
            "--output-dir",
            str(source),
        ]
        subprocess.run(command, check=True, capture_output=True)
        for name in TABLES:
            spark.read.parquet(str(source / f"{name}.parquet")).createOrReplaceTempView(name)
        wide = spark.sql(JOIN).repartition(64, xxhash64("l_orderkey", "l_linenumber"))
        wide.write.mode("overwrite").parquet(str(table))
        shutil.rmtree(source)
    return table


def touched(folder: Path) -> dict[str, float]:
    """The mean number of files whose footers' bounds contain the value of a random row, by key."""
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    files = sorted(p for p in folder.rglob("*.parquet") if "_delta_log" not in p.parts)
    live = [p for p in files if not any(part.startswith("_zorder") for part in p.parts)]
    result = {}
    for key in KEYS:
        values = ds.dataset([str(p) for p in live]).to_table(columns=[key])[key].combine_chunks().sort()
        total = 0
        for p in live:
            meta = pq.read_metadata(p)
            column = meta.schema.to_arrow_schema().get_field_index(key)
            bounds = [meta.row_group(g).column(column).statistics for g in range(meta.num_row_groups)]
            low, high = min(b.min for b in bounds), max(b.max for b in bounds)
            import numpy as np

            array = values.to_numpy()
            total += int(np.searchsorted(array, high, "right") - np.searchsorted(array, low, "left"))
        result[key] = total / len(values)
    return result
