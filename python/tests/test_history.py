"""How long the history is kept, its warnings, and the caches that a statement refreshes."""

from __future__ import annotations

import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.errors import AnalysisException
from small_tables import ROWS, SmallTable, once, write_file

from spark_zorder import ZOrderTable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.every_spark


@pytest.fixture
def folder(tmp_path: Path) -> SmallTable:
    """Three files."""
    return SmallTable.write(tmp_path / "t", False)


@pytest.fixture
def table(spark: SparkSession, folder: SmallTable) -> ZOrderTable:
    """The folder as a table."""
    return ZOrderTable.for_path(spark, str(folder.root), "parquet")


def noticed(spark: SparkSession) -> int:
    """The number of files that came back under a retired name and were noticed so far in this process."""
    assert spark._jvm is not None
    return int(spark._jvm.org.sparkzorder.commit.Reappeared.noticed())


def test_a_file_rewritten_from_an_old_read_is_noticed(
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
    again = table.optimize(["a"], options={"num-files": 2}).collect()[0].metrics.strategy.reason
    assert re.search(rf"`{old.name}` \(retired by version 1\).*probably in the table twice", again)
    assert table.describe_history().collect()[0].operationMetrics["numReappearedFiles"] == "1"
    # Now it is one of the inputs.
    after = noticed(spark)
    assert "warning" not in table.optimize(["a"], full=True).collect()[0].metrics.strategy.reason
    assert noticed(spark) == after


def test_a_file_that_restore_brought_back_is_not_warned_of(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable
) -> None:
    before = noticed(spark)
    spark.sql(folder.optimize)
    table.restore(0)
    assert (
        "warning" not in table.optimize(["a"], full=True, options={"num-files": 3}).collect()[0].metrics.strategy.reason
    )
    table.restore(1)
    table.restore(0)
    assert folder.spark_ids(spark) == once(folder.ids)
    time.sleep(0.5)
    assert noticed(spark) == before


def test_with_many_operations_the_side_folder_stays_small(
    spark: SparkSession, folder: SmallTable, table: ZOrderTable
) -> None:
    record = "_v0000000001-*"
    spark.sql(folder.optimize)
    side = folder.root / "_zorder"
    [only] = side.glob(record)
    # As if no operation had gathered any.
    text = re.sub(r',"crc":\d+}$', "}", only.read_text())
    only.unlink()
    text = re.sub(r'"(inputs|outputs)":\[.*?\]', r'"\1":[]', text)
    for version in range(1, 200):
        said = text.replace('"version":1,', f'"version":{version},')
        (side / f"_v{version:010d}-3ms.json").write_text(
            re.sub(r'"operationId":"[^"]*"', f'"operationId":"op-{version}"', said)
        )
    write_file(folder.root / "more.parquet", range(1000, 1000 + ROWS))
    table.optimize(["a"], full=True)
    names = [f.name for f in side.iterdir()]
    assert sum(n.endswith(".json") for n in names) == 16
    assert sum(n.endswith(".checkpoint") for n in names) == 1
    assert [row.version for row in table.describe_history().collect()] == list(range(200, 0, -1))
    assert "nothing to do" in table.optimize(["a"]).collect()[0].metrics.strategy.reason
    table.restore(199)
    assert folder.spark_ids(spark) == folder.plain_ids()


def test_the_retention_is_a_time(spark: SparkSession, database: Path) -> None:
    spark.range(100).selectExpr("id", "id % 7 AS a").write.saveAsTable("t")
    for right in ("0", "90", "12h"):
        spark.conf.set("spark.zorder.history.retention", right)
        spark.sql("OPTIMIZE t FULL ZORDER BY (a) OPTIONS ('num-files' = '2')")
    for wrong in ("soon", "-1", "3 parsecs"):
        with pytest.raises(Exception, match=r"spark\.zorder\.history\.retention"):
            spark.conf.set("spark.zorder.history.retention", wrong)
    spark.conf.set("spark.zorder.history.retention", "30")
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.history.retention' = 'soon')")
    with pytest.raises(AnalysisException, match=r"soon.*zorder\.history\.retention"):
        spark.sql("OPTIMIZE t FULL ZORDER BY (id) OPTIONS ('num-files' = '2')")


def test_a_statement_by_path_makes_the_listings_of_tables_over_the_folder_anew(
    spark: SparkSession, folder: SmallTable, database: Path
) -> None:
    spark.sql(f"CREATE TABLE t USING parquet LOCATION '{folder.root}'")

    def listed() -> set[str]:
        return {Path(f.removeprefix("file:")).name for f in spark.table("t").inputFiles()}

    assert listed() == {f.name for f in folder.files()}
    spark.sql(folder.optimize)
    assert listed() == {f.name for f in folder.files()}
    ZOrderTable.for_path(spark, str(folder.root), "parquet").restore(0)
    assert listed() == {f.name for f in folder.files()}
