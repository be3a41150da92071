"""The main job, from a table's rows to the files that a query reads and back. `make test` runs it on every Spark."""

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from spark_zorder import ZOrderTable, explain_skipping

pytestmark = [pytest.mark.older_sparks]

ROWS = 4000
FILES = 16


def names(folder: Path, file_format: str) -> set[str]:
    return {file.name for file in folder.glob(f"*.{file_format}")}


@pytest.mark.test_rest
@pytest.mark.parametrize("file_format", ["parquet", "orc"])
def test_a_table_is_clustered_queried_and_restored(spark: SparkSession, tmp_path: Path, file_format: str) -> None:
    folder = tmp_path / "t"
    source = f"{file_format}.`{folder}`"
    rows = spark.range(ROWS).selectExpr("id", "id * 7919 % 1000 AS a", "id * 104729 % 1000 AS b", "'s' || id % 50 AS s")
    rows.repartition(4).write.format(file_format).save(str(folder))
    everything = sorted(rows.collect())
    before = names(folder, file_format)

    # OPTIMIZE: the same rows, in the files that were asked for. Tasks know the kinds of membership.
    options = f"'num-files' = '{FILES}', 'membership-columns' = 's'"
    [result] = spark.sql(f"OPTIMIZE {source} ZORDER BY (a, b) OPTIONS ({options})").collect()
    assert result["metrics"]["numFilesRemoved"] == len(before)
    assert sorted(spark.sql(f"SELECT * FROM {source}").collect()) == everything
    after = names(folder, file_format)
    assert (len(after), after & before) == (result["metrics"]["numFilesAdded"], set())
    assert FILES - 2 <= len(after) <= FILES + 2

    # Skipping: few files, and the same answer as without it.
    query = f"SELECT id FROM {source} WHERE a = 737 AND b = 367"
    [scan] = spark.sql(f"EXPLAIN SKIPPING {query}").collect()
    assert scan["files_total"] == len(after)
    assert 1 <= scan["files_kept"] <= 2
    # A DataFrame is explained as its query is, and leaves no view.
    frame = spark.read.format(file_format).load(str(folder)).where("a = 737 AND b = 367")
    assert explain_skipping(spark, frame).files_kept == scan["files_kept"]
    assert not spark.catalog.listTables()
    found = sorted(spark.sql(query).collect())
    assert found == [(row["id"],) for row in everything if (row["a"], row["b"]) == (737, 367)] != []

    # Rows that come later are found at once, and join the others in the next OPTIMIZE.
    new = spark.sql("SELECT -1L AS id, 737L AS a, 367L AS b, 's' AS s")
    new.write.format(file_format).mode("append").save(str(folder))
    assert sorted(spark.sql(query).collect()) == [(-1,), *found]
    spark.sql(f"OPTIMIZE {source} ZORDER BY (a, b)")
    assert sorted(spark.sql(query).collect()) == [(-1,), *found]

    # RESTORE: the files of the beginning, beside the rows that came later.
    spark.sql(f"RESTORE {source} TO VERSION AS OF 0")
    assert before <= names(folder, file_format)
    assert sorted(spark.sql(query).collect()) == [(-1,), *found]
    assert spark.sql(f"SELECT * FROM {source}").count() == ROWS + 1

    # History, and the trash that VACUUM empties.
    table = ZOrderTable.for_path(spark, str(folder), file_format)
    assert [row["operation"] for row in table.describe_history().collect()] == ["RESTORE", "OPTIMIZE", "OPTIMIZE"]
    assert table.vacuum(retain_hours=0).df.collect()
    assert names(folder, file_format) >= before
    assert not list(folder.rglob("*.retired"))
