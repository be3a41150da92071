"""Small files that old versions of writers made, whose footers are wrong."""

import re
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import fastparquet
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import no_skipping, same_rows
from index_files import with_footer
from pyspark.sql import Row, SparkSession

pytestmark = pytest.mark.test_rest

FILES = Path(__file__).parent / "old_writers"

# Each with its true answer. The columns: `h` and `w` have nulls in several pages of a dictionary; `d` is a categorical
# column of two chunks; `q` has nulls in several row groups; `b` has true and null.
QUESTIONS: dict[str, dict[str, object]] = {
    "polars_1.40.0": {
        "SELECT count(h) FROM t": 300,
        "SELECT count_if(h IS NULL) FROM t": 100,
        "SELECT count(w) FROM t": 300,
        "SELECT sum(id) FROM t WHERE w IS NULL": 19800,
        "SELECT max(h) FROM t WHERE h IS NOT NULL": 9,
        "SELECT max(id) FROM (SELECT * FROM t ORDER BY h NULLS LAST, id DESC LIMIT 1)": 390,
    },
    "polars_1.37.1": {"SELECT min(b) FROM t": True, "SELECT max(b) FROM t": True, "SELECT count(b) FROM t": 2},
    "pyarrow_10.0.1": {
        "SELECT count(*) FROM t WHERE upper(d) = 'Z3-A'": 10,
        "SELECT count(*) FROM t WHERE substring(d, 1, 1) = 'z'": 20,
        "SELECT count(d) FROM t": 60,
        "SELECT count(*) FROM t WHERE d IS NULL": 40,
        "SELECT max(d) FROM t": "z4-A",
    },
    "duckdb_0.9.2": {
        "SELECT count(q) FROM t": 5400,
        "SELECT count_if(q IS NULL) FROM t": 600,
        "SELECT count(*) FROM t WHERE q IS NULL": 600,
        "SELECT min(q) FROM t": 1,
        "SELECT max(q) FROM t": 6,
    },
}


def answer(spark: SparkSession, question: str) -> object:
    [row] = spark.sql(question).collect()
    return row[0]


def assert_true_answers(spark: SparkSession, questions: Mapping[str, object], table: str) -> None:
    for question, truth in questions.items():
        asked = question.replace("FROM t", f"FROM {table}")
        with no_skipping(spark):
            assert answer(spark, asked) == truth, question
        assert answer(spark, asked) == truth, question


@pytest.mark.parametrize("writer", QUESTIONS)
def test_wrong_footers_of_old_writers_are_not_believed(spark: SparkSession, tmp_path: Path, writer: str) -> None:
    folder = tmp_path / "t"
    folder.mkdir()
    for i in range(2):
        shutil.copy(FILES / f"{writer}.parquet", folder / f"{i}.parquet")
    table = f"parquet.`{folder}`"
    doubled = {
        q: 2 * truth if "count" in q or "sum" in q else truth
        for q, truth in QUESTIONS[writer].items()
        if isinstance(truth, int | str | bool)
    }
    spark.sql(f"CREATE SKIPPING INDEX ON {table}")
    assert_true_answers(spark, doubled, table)
    spark.sql(f"OPTIMIZE {table} ORDER BY (id)")
    assert_true_answers(spark, doubled, table)
    spark.sql(f"RESTORE {table} TO VERSION AS OF 0")
    spark.sql(f"REFRESH SKIPPING INDEX ON {table}")
    assert_true_answers(spark, doubled, table)


def index_of(folder: Path) -> Path:
    return max((folder / "_zorder").glob("_index-*.zidx"), key=lambda p: int(re.sub(r"\D", "", p.name)))


def written_by_an_earlier_release(folder: Path) -> None:
    """Make the index one of an earlier table of writers, in which the column `a` has other bounds."""
    index = index_of(folder)

    def earlier(footer: bytes) -> bytes:
        assert b',"writers":2,' in footer
        return footer.replace(b',"writers":2,', b",")

    index.write_bytes(with_footer(index.read_bytes(), earlier))


def statuses(spark: SparkSession, table: str) -> set[str]:
    return {row.status for row in spark.sql(f"DESCRIBE SKIPPING INDEX ON {table} (id)").collect()}


def explained(spark: SparkSession, query: str) -> tuple[int, int]:
    row: Row = spark.sql(f"EXPLAIN SKIPPING {query}").collect()[0]
    return row.files_total, row.files_kept


@pytest.fixture
def outdated(spark: SparkSession, tmp_path: Path) -> Path:
    """Four files in a layout, whose index an earlier release has made."""
    folder = tmp_path / "t"
    spark.range(0, 4000, 1, 4).selectExpr("id", "id % 7 AS a").write.parquet(str(folder))
    spark.sql(f"OPTIMIZE parquet.`{folder}` ORDER BY (id) OPTIONS ('num-files' = '4')")
    assert explained(spark, f"SELECT * FROM parquet.`{folder}` WHERE id = 7") == (4, 1)
    written_by_an_earlier_release(folder)
    return folder


def test_queries_do_not_use_an_index_of_an_earlier_release(spark: SparkSession, outdated: Path) -> None:
    table = f"parquet.`{outdated}`"
    assert explained(spark, f"SELECT * FROM {table} WHERE id = 7") == (4, 4)
    assert len(same_rows(spark, f"SELECT * FROM {table} WHERE id = 7")) == 1
    assert answer(spark, f"SELECT count(a) FROM {table}") == 4000
    assert statuses(spark, table) == {"stale"}


def test_refresh_makes_an_index_of_an_earlier_release_again(spark: SparkSession, outdated: Path) -> None:
    table = f"parquet.`{outdated}`"
    spark.sql(f"REFRESH SKIPPING INDEX ON {table}")
    assert statuses(spark, table) == {"indexed"}
    assert explained(spark, f"SELECT * FROM {table} WHERE id = 7") == (4, 1)
    # What OPTIMIZE has written is still in the layout.
    again = spark.sql(f"OPTIMIZE {table} ORDER BY (id) OPTIONS ('num-files' = '4')").collect()
    assert "Nothing to do" in again[0].summary
    before = index_of(outdated).name
    spark.sql(f"REFRESH SKIPPING INDEX ON {table}")
    assert index_of(outdated).name == before


def test_optimize_makes_an_index_of_an_earlier_release_again(spark: SparkSession, outdated: Path) -> None:
    table = f"parquet.`{outdated}`"
    spark.range(4000, 4100).selectExpr("id", "id % 7 AS a").write.mode("append").parquet(str(outdated))
    spark.sql(f"OPTIMIZE {table} ORDER BY (id) DRY RUN")
    assert statuses(spark, table) >= {"stale"}
    spark.sql(f"OPTIMIZE {table} ORDER BY (id)")
    assert statuses(spark, table) == {"indexed"}
    total, kept = explained(spark, f"SELECT * FROM {table} WHERE id = 7")
    assert kept == 1 < total


def test_restore_makes_an_index_of_an_earlier_release_again(spark: SparkSession, outdated: Path) -> None:
    table = f"parquet.`{outdated}`"
    spark.sql(f"RESTORE {table} TO VERSION AS OF 0")
    spark.sql(f"REFRESH SKIPPING INDEX ON {table}")
    assert statuses(spark, table) == {"indexed"}


def test_a_column_list_lasts_when_the_index_is_made_again(spark: SparkSession, tmp_path: Path) -> None:
    table = f"parquet.`{tmp_path}/t`"
    spark.range(0, 4000, 1, 4).selectExpr("id", "id % 7 AS a").write.parquet(f"{tmp_path}/t")
    spark.sql(f"CREATE SKIPPING INDEX ON {table} (id VALUES)")
    written_by_an_earlier_release(tmp_path / "t")
    spark.sql(f"REFRESH SKIPPING INDEX ON {table}")
    assert {r.column for r in spark.sql(f"DESCRIBE SKIPPING INDEX ON {table}").collect()} == {"id"}
    assert statuses(spark, table) == {"indexed"}


# True answers about the rows of two joined files. Spark's readers do not judge these by a footer.
JOINED: dict[str, object] = {
    "SELECT count(*) FROM t WHERE isnan(f)": 2,
    "SELECT count(*) FROM (SELECT max(f) AS m FROM t) WHERE isnan(m)": 1,
    "SELECT count(f) FROM t": 6,
    "SELECT count(st.x) FROM t": 4,
    "SELECT count(*) FROM t WHERE st.x IS NOT NULL": 4,
    "SELECT count(*) FROM t WHERE st IS NULL": 4,
}


def append_file(spark: SparkSession, source: Path, target: Path) -> None:
    """Copy a file's row groups with their statistics, as parquet-java's `merge` and programs of users do."""
    jvm: Any = spark._jvm
    hadoop = jvm.org.apache.parquet.hadoop
    conf = spark._jsc.hadoopConfiguration()
    path = jvm.org.apache.hadoop.fs.Path
    file = hadoop.util.HadoopInputFile.fromPath(path(str(source)), conf)
    reader = hadoop.ParquetFileReader.open(file)
    schema = reader.getFooter().getFileMetaData().getSchema()
    reader.close()
    writer = hadoop.ParquetFileWriter(conf, schema, path(str(target)))
    writer.start()
    writer.appendFile(file)
    writer.end(jvm.java.util.HashMap())


@pytest.mark.parametrize("with_page_index", [False, True])
def test_files_joined_by_parquet_java_are_not_its(spark: SparkSession, tmp_path: Path, with_page_index: bool) -> None:
    texts = pa.array(["a", "b", "c", "d"]).dictionary_encode()
    structs = pa.StructArray.from_arrays([texts], ["x"], mask=pa.array([False, True, True, False]))
    rows = pa.table({"id": range(4), "f": pa.array([1.0, 2.0, float("nan"), None]), "st": structs})
    pq.write_table(rows, tmp_path / "source.parquet", write_page_index=with_page_index)
    folder = tmp_path / "t"
    folder.mkdir()
    for i in range(2):
        append_file(spark, tmp_path / "source.parquet", folder / f"{i}.parquet")
    assert pq.read_metadata(folder / "0.parquet").created_by.startswith("parquet-mr version 1.")
    table = f"parquet.`{folder}`"
    spark.sql(f"CREATE SKIPPING INDEX ON {table}")
    assert_true_answers(spark, JOINED, table)


def test_row_groups_that_fastparquet_appended_are_not_those_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    """The footer keeps the name of the first writer, and bounds of fastparquet leave NaN out."""
    folder = tmp_path / "t"
    spark.range(0, 8, 1, 1).selectExpr("id", "CAST(id AS DOUBLE) AS d").write.parquet(str(folder))
    [file] = folder.glob("part-*.parquet")
    more = pd.DataFrame({"id": pd.array([8, 9], dtype="int64"), "d": [float("nan"), 1.0]})
    fastparquet.write(str(file), more, append=True, stats=True)
    file.with_name(f".{file.name}.crc").unlink()
    assert pq.read_metadata(file).created_by.startswith("parquet-mr version 1.")
    shutil.copy(file, folder / "part-1.parquet")
    table = f"parquet.`{folder}`"
    spark.sql(f"CREATE SKIPPING INDEX ON {table}")
    truth: dict[str, object] = {
        "SELECT count(*) FROM t WHERE isnan(d)": 2,
        "SELECT isnan(max(d)) FROM t": True,
        "SELECT isnan(d) FROM t ORDER BY d DESC LIMIT 1": True,
    }
    assert_true_answers(spark, truth, table)


def test_chunks_of_parquet_java_are_known_as_its_own(spark: SparkSession, tmp_path: Path) -> None:
    """If not, the rows of every file of Spark would be read for the index."""
    columns = (
        "id",
        "id % 2 = 0 AS b",
        "if(id = 3, NULL, named_struct('x', id / 2.0D)) AS st",
        "array(id) AS a",
        "CAST(id AS STRING) AS s",
    )
    for version in ("PARQUET_1_0", "PARQUET_2_0"):
        folder = str(tmp_path / version)
        rows = spark.range(0, 1000, 1, 2).selectExpr(*columns)
        rows.write.option("parquet.writer.version", version).parquet(folder)
        jobs = spark.sparkContext.statusTracker()
        spark.sparkContext.setJobGroup(version, "index")
        spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}` (id, st.x)")
        spark.sparkContext.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
        # One job reads the footers. Another one would read rows.
        assert len(jobs.getJobIdsForGroup(version)) == 1
