"""TPC-H's lineitem joined with its orders, customers, suppliers and parts: one wide table."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from dataset import Question

if TYPE_CHECKING:
    from progress import Steps
    from pyspark.sql import SparkSession

_TABLES = ("lineitem", "orders", "customer", "supplier", "part")

_JOIN = """
SELECT * EXCEPT (o_orderkey, c_custkey, s_suppkey, p_partkey, c_comment, s_comment, p_comment)
FROM lineitem
JOIN orders ON l_orderkey = o_orderkey
JOIN customer ON o_custkey = c_custkey
JOIN supplier ON l_suppkey = s_suppkey
JOIN part ON l_partkey = p_partkey
"""


class Tpch:
    """42 columns, 6 million rows for each unit of scale, in 64 files without any order."""

    keys = ("l_suppkey", "o_custkey", "l_partkey")
    values = ()
    files = 100

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.title = f"TPC-H's wide table, scale {scale:g}"
        # Keys run from 1 to these numbers. Every third customer has no orders. This one, 4.7 % of the way up, has some.
        suppliers, customers, parts = (max(1, round(most * scale)) for most in (10_000, 150_000, 200_000))
        customer = max(1, customers * 47 // 1000) // 3 * 3 + 1
        self.questions = (
            Question("One supplier's lines", f"l_suppkey = {max(1, suppliers // 3)}"),
            Question("One customer's lines", f"o_custkey = {customer}"),
            Question("One part's lines", f"l_partkey = {max(1, parts * 2 // 3)}"),
            Question("A tenth of the suppliers", f"l_suppkey <= {max(1, suppliers // 10)} AND l_quantity > 49"),
            Question(
                "Some customers' lines of some parts",
                f"o_custkey BETWEEN {customers // 5} AND {customers // 4} AND l_partkey < {max(2, parts // 10)}",
            ),
        )

    def write(self, folder: Path, spark: SparkSession, steps: Steps) -> int:
        """Generate the five tables, join them and write the rows in the order of a hash."""
        from pyspark.sql.functions import xxhash64

        source = folder.parent / f"{folder.name}-source"
        shutil.rmtree(source, ignore_errors=True)
        command = [str(Path(sys.executable).parent / "tpchgen-cli"), "parquet", "-s", f"{self.scale:g}"]
        command += ["--tables", ",".join(_TABLES), "--output-dir", str(source)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"tpchgen-cli failed: {done.stderr.strip()}")
        for name in _TABLES:
            spark.read.parquet(str(source / f"{name}.parquet")).createOrReplaceTempView(name)
        wide = spark.sql(_JOIN).repartition(64, xxhash64("l_orderkey", "l_linenumber"))
        steps.watch(spark, lambda: wide.write.parquet(str(folder)))
        shutil.rmtree(source)
        return spark.read.parquet(str(folder)).count()
