"""How long the history is kept, its warnings, and the caches that a statement refreshes."""

import re
import shutil
import time
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from small_tables import ROWS, SmallTable, once, write_file

from spark_zorder import ZOrderTable

pytestmark = pytest.mark.older_sparks


@pytest.fixture
def folder(tmp_path: Path) -> SmallTable:
    """Three files."""
    return SmallTable.write(tmp_path / "t", False)


@pytest.fixture
def table(spark: SparkSession, folder: SmallTable) -> ZOrderTable:
    return ZOrderTable.for_path(spark, str(folder.root), "parquet")


def noticed(spark: SparkSession) -> int:
    """The number of files that came back under a retired name and were noticed so far in this process."""
    assert spark._jvm is not None
    return int(spark._jvm.org.sparkzorder.commit.log.Reappeared.noticed())


def test_stale_rewrites_are_noticed(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable, tmp_path: Path
) -> None:
    old = folder.files()[0]
    copy = shutil.copy(old, tmp_path / "old.parquet")
    spark.sql(folder.optimize)
    before = noticed(spark)
    assert folder.spark_ids(spark) == once(folder.ids)
    # Another program read the file before. Now it writes its result.
    shutil.move(copy, old)
    assert sum(folder.spark_ids(spark).values()) == 4 * ROWS
    for _ in range(100):
        if noticed(spark) > before:
            break
        time.sleep(0.1)
    assert noticed(spark) == before + 1
    # A known listing is not checked again. Neither is a file that others add.
    write_file(folder.root / "more.parquet", range(1000, 1000 + ROWS))
    again = table.optimize(["a"], num_files=2).metrics.strategy.reason
    assert re.search(rf"`{old.name}` \(retired by version 1\).*their rows are in the table twice, or", again)
    assert table.describe_history().collect()[0].operationMetrics["numReappearedFiles"] == "1"
    # Now it is one of the inputs.
    after = noticed(spark)
    assert "warning" not in table.optimize(["a"], full=True).metrics.strategy.reason
    assert noticed(spark) == after


@pytest.mark.test_all
def test_the_layout_of_a_file_is_known_after_many_operations(spark: SparkSession, tmp_path: Path) -> None:
    root = tmp_path / "t"
    rows = spark.range(2000).selectExpr("id", "id % 7 AS a", "id % 2 AS p")
    rows.write.partitionBy("p").parquet(str(root))
    table = ZOrderTable.for_path(spark, str(root), "parquet")
    table.optimize(["a"], num_files=4)
    for n in range(18):
        table.optimize(["a"], where="p = 1", full=True, num_files=2 + n % 2)
    table.vacuum(0)

    def reason() -> str:
        return str(table.optimize(["a"]).metrics.strategy.reason)

    # The files of the other partition are of the first operation, which is not among the newest 16.
    assert "nothing to do" in reason()
    spark.sql(f"REFRESH SKIPPING INDEX ON parquet.`{root}`")
    assert "nothing to do" in reason()
    spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON parquet.`{root}`")
    assert "nothing to do" in reason()
    # Without statistics nothing is known of them, so they are rewritten.
    spark.sql(f"DROP SKIPPING INDEX ON parquet.`{root}`")
    assert table.optimize(["a"]).metrics.partitionsOptimized == 1
    assert "nothing to do" in reason()


def test_the_retention_is_a_time_and_a_number(spark: SparkSession, database: Path) -> None:
    spark.range(100).selectExpr("id", "id % 7 AS a").write.saveAsTable("t")
    spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '2')")
    for name, right, wrong in (
        ("retention", ("0", "90", "12h", "30"), ("soon", "-1", "3 parsecs")),
        ("max-operations", ("1", "1000"), ("0", "many")),
    ):
        for value in right:
            spark.conf.set(f"spark.zorder.history.{name}", value)
            spark.sql("VACUUM t")
        for value in wrong:
            with pytest.raises(Exception, match=rf"spark\.zorder\.history\.{name}"):
                spark.conf.set(f"spark.zorder.history.{name}", value)
        spark.sql(f"ALTER TABLE t SET TBLPROPERTIES ('zorder.history.{name}' = '{wrong[0]}')")
        with pytest.raises(AnalysisException, match=rf"zorder\.history\.{name}.*{wrong[0]}"):
            spark.sql("VACUUM t RETAIN 0 HOURS")
        spark.sql(f"ALTER TABLE t UNSET TBLPROPERTIES ('zorder.history.{name}')")


def test_a_statement_by_path_lists_tables_over_it_anew(spark: SparkSession, folder: SmallTable, database: Path) -> None:
    spark.sql(f"CREATE TABLE t USING parquet LOCATION '{folder.root}'")

    def listed() -> set[str]:
        return {Path(f.removeprefix("file:")).name for f in spark.table("t").inputFiles()}

    assert listed() == {f.name for f in folder.files()}
    spark.sql(folder.optimize)
    assert listed() == {f.name for f in folder.files()}
    ZOrderTable.for_path(spark, str(folder.root), "parquet").restore(0)
    assert listed() == {f.name for f in folder.files()}
