"""`ZORDER BY AUTO`: the recorded queries, the chosen layout, and the values that are never written down."""

import json
import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

from spark_zorder import ZOrderTable, explain_skipping

pytestmark = pytest.mark.test_all

ROWS = 20_000
RECORD = "spark.zorder.workload.enabled"


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    """Three independent columns of numbers, and a string, in four files with an index."""
    folder = tmp_path / "t"
    (
        spark.range(0, ROWS, 1, 4)
        .selectExpr(
            "id",
            "pmod(hash(id), 1000) AS a",
            "pmod(hash(id, 1), 1000) AS b",
            "pmod(hash(id, 2), 1000) AS c",
            "concat('secret-', CAST(pmod(hash(id, 3), 1000) AS STRING)) AS s",
        )
        .write.parquet(str(folder))
    )
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    spark.conf.set(RECORD, "true")
    return folder


def ask(spark: SparkSession, folder: Path, *predicates: str) -> None:
    for predicate in predicates:
        spark.sql(f"SELECT count(*) FROM parquet.`{folder}` WHERE {predicate}").collect()


def optimize(spark: SparkSession, folder: Path, files: int = 64, **options: object) -> Row:
    table = ZOrderTable.for_path(spark, str(folder), "parquet")
    return table.optimize(auto=True, num_files=files, options=options).metrics


def flush(spark: SparkSession) -> None:
    spark.sparkContext._jvm.org.sparkzorder.workload.WorkloadRecorder.flush()  # type: ignore[union-attr]


def recorded(folder: Path) -> list[dict[str, Any]]:
    files = sorted((folder / "_zorder" / "workload").glob("*.json"))
    return [kind for path in files for kind in json.loads(path.read_text())["kinds"]]


def columns_of(folder: Path) -> set[str]:
    return {".".join(c["path"]) for kind in recorded(folder) for c in kind["columns"]}


def test_hot_ranges_have_more_room(spark: SparkSession, table: Path) -> None:
    hot = [f"{c} = {n}" for n in range(900, 1000, 4) for c in "abc"]
    ask(spark, table, *hot)

    def touched() -> int:
        queries = [f"EXPLAIN SKIPPING SELECT * FROM parquet.`{table}` WHERE {p}" for p in hot]
        return sum(spark.sql(q).collect()[0]["files_kept"] for q in queries)

    plain = optimize(spark, table, 125)
    before, files = touched(), plain["numFilesAdded"]
    roomy = optimize(spark, table, 125, **{"hot-ranges": True})
    after = touched()
    assert "50.0 % of the room" in roomy["auto"]["reason"]
    assert after / roomy["numFilesAdded"] < 0.7 * before / files, (before, files, after, roomy["numFilesAdded"])
    # A bare OPTIMIZE keeps the layout and the rows.
    again = spark.sql(f"OPTIMIZE parquet.`{table}` FULL OPTIONS ('num-files' = '125')").collect()[0]["metrics"]
    assert again["numFilesAdded"] > 0
    assert touched() / again["numFilesAdded"] < 0.7 * before / files
    assert spark.read.parquet(str(table)).agg({"id": "sum"}).collect()[0][0] == ROWS * (ROWS - 1) // 2


@pytest.mark.parametrize(
    ("layout", "predicates"),
    [
        ("ZORDER BY (a, b)", [f"{'aab'[n % 3]} = {37 * n % 1000}" for n in range(45)]),
        ("ZORDER BY (a, b)", [f"a BETWEEN {n} AND {n + 100} AND b > {n}" for n in range(0, 1000, 25)]),
        ("ZORDER BY (a, b)", [f"{'ac'[n % 2]} = {37 * n % 1000}" for n in range(40)]),
        ("ORDER BY (s)", [f"s = 'secret-{n}'" for n in range(0, 1000, 25)]),
        (
            "ZORDER BY AUTO",
            [f"a IN ({n}, {(7 * n + 500) % 1000}) AND c < 300" for n in range(0, 1000, 25)] + ["b = 3", "b = 4"],
        ),
    ],
    ids=["points", "ranges", "another column", "strings", "auto"],
)
def test_a_dry_run_foresees_bytes_read(spark: SparkSession, table: Path, layout: str, predicates: list[str]) -> None:
    # What earlier queries found is no part of the forecast.
    spark.conf.set("spark.zorder.memory.enabled", "false")
    ask(spark, table, *predicates)
    spark.conf.unset(RECORD)

    def share() -> float:
        scans = [
            scan
            for predicate in predicates
            for scan in explain_skipping(spark, f"SELECT * FROM parquet.`{table}` WHERE {predicate}").df.collect()
        ]
        return float(sum(scan.bytes_kept for scan in scans) / sum(scan.bytes_total for scan in scans))

    before = share()
    statement = f"OPTIMIZE parquet.`{table}` {layout} OPTIONS ('num-files' = '32')"
    foreseen = spark.sql(f"{statement} DRY RUN").collect()[0].metrics.workload
    spark.sql(statement)
    assert foreseen.queries == len(predicates)
    assert foreseen.bytesShareBefore == pytest.approx(before, rel=0.01)
    assert foreseen.bytesShareAfter == pytest.approx(share(), rel=0.1)


def test_off_by_default_and_not_for_queries_that_nobody_runs(spark: SparkSession, table: Path) -> None:
    spark.sql(f"EXPLAIN SKIPPING SELECT * FROM parquet.`{table}` WHERE a = 1").collect()
    spark.conf.unset(RECORD)
    ask(spark, table, "a = 1")
    flush(spark)
    assert not (table / "_zorder" / "workload").exists()


def test_no_value_is_written_down(spark: SparkSession, table: Path) -> None:
    ask(
        spark,
        table,
        "s = 'secret-123'",
        "s LIKE 'secret-7%'",
        "a IN (123, 456) AND b BETWEEN 321 AND 654",
        "s > 'secret'",
    )
    flush(spark)
    assert columns_of(table) == {"a", "b", "s"}
    text = "".join(p.read_text() for p in (table / "_zorder" / "workload").iterdir())
    assert "secret" not in text
    # Only the step of 128 of each boundary is left.
    steps = [n for kind in recorded(table) for c in kind["columns"] for n in c.get("starts", []) + c.get("ends", [])]
    assert steps
    assert max(steps) < 128


@pytest.mark.skipif(sys.platform == "win32", reason="rights are those of POSIX")
@pytest.mark.parametrize(("of_folder", "of_files"), [(0o755, 0o644), (0o750, 0o640), (0o755, 0o600)])
def test_records_are_for_readers_of_the_index(spark: SparkSession, table: Path, of_folder: int, of_files: int) -> None:
    for path in table.glob("*.parquet"):
        path.chmod(of_files)
    table.chmod(of_folder)
    spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON parquet.`{table}`")
    for n in range(2):
        ask(spark, table, f"a = {n}")
        flush(spark)
    folder = table / "_zorder" / "workload"
    [sketch] = folder.iterdir()
    index = max((table / "_zorder").glob("*.zidx"))
    assert stat.S_IMODE(folder.stat().st_mode) == of_folder
    assert stat.S_IMODE(sketch.stat().st_mode) == stat.S_IMODE(index.stat().st_mode)


def test_excluded_columns_are_not_recorded(spark: SparkSession, database: Path) -> None:
    columns = "id, id % 100 AS card, struct(id % 7 AS x, id % 9 AS y) AS p"
    spark.sql(f"CREATE TABLE t USING parquet AS SELECT {columns} FROM range(1000)")
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'card, p.x')")
    spark.sql("CREATE SKIPPING INDEX ON t")
    spark.conf.set(RECORD, "true")
    queries = ["id = 5", "card = 5", "card = 5 AND p.y = 1", "p.x = 1"]
    for predicate in queries:
        spark.sql(f"SELECT * FROM t WHERE {predicate}").collect()
    flush(spark)
    assert columns_of(database / "t") == {"id", "p.y"}
    # The records of a column are forgotten together with its statistics, when the column is excluded.
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'card, p.x, id')")
    spark.sql("SELECT * FROM t WHERE id = 5").collect()
    spark.sql("CREATE OR REPLACE SKIPPING INDEX ON t")
    flush(spark)
    assert "id" not in columns_of(database / "t")


def test_what_was_recorded_goes_with_the_index_and_stays_otherwise(spark: SparkSession, table: Path) -> None:
    ask(spark, table, "a = 1", "b > 900")
    optimize(spark, table, 8)
    before = recorded(table)
    assert before
    target = f"parquet.`{table}`"
    new = spark.range(10).selectExpr("id", *(f"CAST(id AS INT) AS {c}" for c in "abc"), "'x' AS s")
    new.write.mode("append").parquet(str(table))
    for statement in (
        f"OPTIMIZE {target}",
        f"REFRESH SKIPPING INDEX ON {target}",
        f"CREATE OR REPLACE SKIPPING INDEX ON {target}",
        f"VACUUM {target} RETAIN 0 HOURS",
    ):
        spark.sql(statement).collect()
        assert recorded(table) == before, statement
    spark.sql(f"DROP SKIPPING INDEX ON {target}")
    assert not (table / "_zorder" / "workload").exists()
    ask(spark, table, "a = 1")
    flush(spark)
    assert not (table / "_zorder" / "workload").exists()
    # The same process starts a new record.
    spark.sql(f"CREATE SKIPPING INDEX ON {target}")
    ask(spark, table, "a = 1")
    flush(spark)
    assert [kind["queries"] for kind in recorded(table)] == [1]


def test_partitions_where_and_orc(spark: SparkSession, database: Path) -> None:
    spark.sql(
        "CREATE TABLE t USING orc PARTITIONED BY (p) AS SELECT /*+ REPARTITION(3) */ id, pmod(hash(id), 500) AS a, "
        "CAST(id AS STRING) AS s, id % 2 AS p FROM range(4000)"
    )
    spark.sql("CREATE SKIPPING INDEX ON t")
    spark.conf.set(RECORD, "true")
    for n in range(20):
        spark.sql(f"SELECT * FROM t WHERE a = {n} AND p = 1").collect()
    one = spark.sql("OPTIMIZE t WHERE p = 1 ZORDER BY AUTO OPTIONS ('num-files' = '16')").collect()[0]["metrics"]
    assert one["auto"]["layout"] == "ZORDER BY (a)"
    assert one["partitionsOptimized"] == 1
    two = spark.sql("OPTIMIZE t ZORDER BY AUTO OPTIONS ('num-files' = '32')").collect()[0]["metrics"]
    assert two["partitionsOptimized"] == 1
    assert spark.sql("SELECT count(*), sum(id) FROM t").collect()[0] == (4000, 4000 * 3999 // 2)
    shutil.rmtree(database / "t" / "_zorder" / "workload")
    with pytest.raises(AnalysisException, match="ZORDER_NO_WORKLOAD"):
        spark.sql("OPTIMIZE t FULL ZORDER BY AUTO")


@pytest.fixture
def star(spark: SparkSession, database: Path) -> ZOrderTable:
    """Sales to 420 customers, with an index. Of the first 400, each twenty in a row have one of 20 cities."""
    spark.sql(
        "CREATE TABLE sales USING parquet AS SELECT CAST(id AS INT) AS id, CAST(id * 7919 % 420 AS INT) AS customer, "
        "CAST(id * 31 % 97 AS INT) AS day, concat('n', id) AS note FROM range(0, 8000, 1, 8)"
    )
    spark.sql(
        "CREATE TABLE customer USING parquet AS SELECT CAST(id AS INT) AS key, concat('secret-', CAST(id / 20 AS INT)) "
        "AS city, CAST(id % 7 AS INT) AS size FROM range(400)"
    )
    spark.sql("CREATE SKIPPING INDEX ON sales")
    spark.conf.set(RECORD, "true")
    return ZOrderTable(spark, "sales")


def sales_of(spark: SparkSession, *conditions: str) -> None:
    for condition in conditions:
        spark.sql(f"SELECT note FROM sales JOIN customer ON customer = key WHERE {condition}").collect()


def cities(*of: int) -> list[str]:
    return [f"city = 'secret-{n}'" for n in of]


def test_what_dimensions_are_asked_for_is_clustered_by(spark: SparkSession, star: ZOrderTable, database: Path) -> None:
    sales_of(
        spark,
        *cities(*range(11)),
        "CITY = 'secret-11'",
        "city IN ('secret-3', 'secret-4') AND day = 5",
        "size < 3 AND key = 7",
    )
    before = sorted(map(tuple, spark.table("sales").collect()))
    flush(spark)
    kinds = {tuple(sorted(".".join(c["path"]) for c in kind["columns"])): kind for kind in recorded(database / "sales")}
    assert set(kinds) == {("city",), ("city", "day"), ("customer", "size")}
    assert kinds[("city",)]["queries"] == 12
    join = kinds[("city",)]["columns"][0]["join"]
    assert (join["dimension"][-1], join["column"], join["key"]) == ("customer", ["customer"], ["key"])
    files = [path.read_text() for path in (database / "sales" / "_zorder" / "workload").glob("*.json")]
    assert files
    assert not any("secret" in text for text in files)
    auto = star.optimize(auto=True, num_files=20).metrics["auto"]
    assert auto["layout"].startswith("JOIN "), auto
    assert "customer ON customer = key ZORDER BY (customer.city" in auto["layout"], auto
    assert "12 by customer.city =" in auto["reason"]
    assert sorted(map(tuple, spark.table("sales").collect())) == before
    explained = explain_skipping(
        spark, "SELECT note FROM sales JOIN customer ON customer = key WHERE city = 'secret-9'", analyze=True
    )
    assert explained.scans[0].files_kept in {1, 2, 3}
    again = star.optimize(auto=True, num_files=20)
    assert (again.files_added, again.metrics["auto"]["layout"]) == (0, auto["layout"])
    assert "kept" in again.metrics["auto"]["reason"]


def test_a_dimension_with_an_index_has_ranked_values(spark: SparkSession, star: ZOrderTable, database: Path) -> None:
    spark.sql("CREATE SKIPPING INDEX ON customer")
    sales_of(spark, "size >= 6", "size >= 6")
    flush(spark)
    (kind,) = recorded(database / "sales")
    (column,) = kind["columns"]
    step, count = column["starts"]
    assert (column["form"], count) == ("range", 2)
    assert step > 100
    star.optimize(auto=True, num_files=8, options={"hot-ranges": True})
    assert "customer.size" in star.describe_history().head()["operationParameters"]["zOrderBy"]  # type: ignore[index]


def test_a_dimension_that_cannot_be_joined_is_left_out(spark: SparkSession, star: ZOrderTable) -> None:
    # The last one spells the column in its own way.
    sales_of(spark, *cities(1, 2), "CITY = 'secret-3'", "day = 4")
    spark.sql("INSERT INTO customer SELECT * FROM customer WHERE key = 9")
    auto = star.optimize(auto=True, num_files=8).metrics["auto"]
    assert auto["layout"] == "ZORDER BY (day)"
    assert "`customer` is left out. " in auto["reason"]
    assert "2 rows have the value 9." in auto["reason"]
    spark.sql("DROP TABLE customer")
    gone = star.optimize(auto=True, num_files=8).metrics["auto"]
    assert gone["layout"] == "ZORDER BY (day)"
    assert "`customer` is left out. " in gone["reason"]


def test_excluded_columns_of_joins_are_not_recorded(spark: SparkSession, star: ZOrderTable, database: Path) -> None:
    spark.sql("ALTER TABLE customer SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'city')")
    sales_of(spark, *cities(1, 2), "size = 3")
    flush(spark)
    assert columns_of(database / "sales") == {"size"}
    spark.sql("ALTER TABLE sales SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'customer')")
    spark.sql("REFRESH SKIPPING INDEX ON sales")
    assert recorded(database / "sales") == []


def test_folders_that_are_joined(spark: SparkSession, star: ZOrderTable, database: Path) -> None:
    for n in range(3):
        query = "SELECT note FROM parquet.`{}` JOIN parquet.`{}` ON customer = key WHERE city = 'secret-{}'"
        spark.sql(query.format(database / "sales", database / "customer", n)).collect()
    metrics = ZOrderTable.for_path(spark, str(database / "sales"), "parquet").optimize(auto=True, num_files=8).metrics
    assert metrics["auto"]["layout"].startswith("JOIN parquet."), metrics["auto"]
    assert metrics["numFilesAdded"] > 5
