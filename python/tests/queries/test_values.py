"""The index keeps which values a column has in each file, on every Spark."""

from pathlib import Path

import pytest
from comparison import files_read, same_rows
from pyspark.sql import DataFrame, SparkSession

from spark_zorder import ZOrderTable, explain_skipping

pytestmark = pytest.mark.older_sparks

FILES = 20


def rows(spark: SparkSession, start: int = 0, files: int = FILES) -> DataFrame:
    """Rows whose values are scattered over all files, with nulls, NaN and both zeros."""
    number = "pmod(xxhash64(id), 100000)"
    return spark.range(start, start + files * 500, 1, files).selectExpr(
        "id",
        f"IF(id % 50 = 0, NULL, {number}) AS n",
        f"concat('user-', repeat('x', 200), CAST({number} AS STRING)) AS who",
        f"CASE id % 1000 WHEN 3 THEN double('NaN') WHEN 4 THEN -0.0D ELSE {number} / 8D END AS d",
        f"CAST({number} AS DECIMAL(30, 4)) AS wide",
        f"CAST(CAST({number} AS STRING) AS BINARY) AS raw",
        f"named_struct('n', CAST({number} AS INT), 't', timestamp_micros({number})) AS s",
    )


def table_of(spark: SparkSession, form: str, folder: Path) -> ZOrderTable:
    return ZOrderTable.for_path(spark, str(folder), form)


KEPT = ["n", "who", "d", "wide", "raw", "s.n", "s.t"]


@pytest.fixture(scope="module", params=["parquet", pytest.param("orc", marks=pytest.mark.test_rest)])
def table(request: pytest.FixtureRequest, spark_session: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    folder: Path = tmp_path_factory.mktemp("values") / "t"
    form = request.param
    rows(spark_session).write.format(form).save(str(folder))
    target = f"{form}.`{folder}`"
    table_of(spark_session, form, folder).create_skipping_index(values=KEPT[:3], bloom=KEPT[3:])
    return target


CONDITIONS = {
    "n = 77": 2,
    "n IN (77, 78, -5)": 3,
    "n <=> 77": 2,
    "n = 77 OR who = 'nobody'": 2,
    "n = 77 OR id < 10": 3,
    "n = 77 AND id >= 0": 2,
    "NOT (n <> 77)": 2,
    "n = CAST('77' AS INT)": 2,
    "who = concat('user-', repeat('x', 200), '4711')": 2,
    "d = 0": FILES,
    "d = -0.0D": FILES,
    "d = double('NaN')": FILES,
    "d IN (double('NaN'), 5.5D)": FILES,
    "d = 77.125D": 3,
    "wide = 77": 2,
    "raw = CAST('77' AS BINARY)": 2,
    "s.n = 77": 2,
    "n IS NULL": FILES,
    "n NOT IN (77)": FILES,
    "n > 77 AND n < 79": FILES,
}


@pytest.mark.parametrize(
    "condition",
    [pytest.param(text, marks=[pytest.mark.test_rest] if at % 2 else []) for at, text in enumerate(CONDITIONS)],
)
def test_files_without_the_value_are_not_read(spark_session: SparkSession, table: str, condition: str) -> None:
    query = f"SELECT id, n FROM {table} WHERE {condition}"
    same_rows(spark_session, query)
    assert files_read(spark_session, query)[0] <= CONDITIONS[condition]
    scans = explain_skipping(spark_session, query).df.collect()
    reasons = [c.reason or "" for scan in scans for c in scan.conjuncts]
    assert any(r.startswith("MEMBERSHIP") for r in reasons) == (CONDITIONS[condition] < FILES)


@pytest.mark.test_rest
def test_joins_and_subqueries_look_up_values(spark_session: SparkSession, table: str) -> None:
    found = spark_session.sql(f"SELECT n, id FROM {table} WHERE id IN (1, 9999)").collect()
    keys = ", ".join(f"({r.n}L, {r.id})" for r in found)
    spark_session.sql(f"SELECT * FROM VALUES {keys} AS k(n, w)").createOrReplaceTempView("k")
    for query in (
        f"SELECT t.id, w FROM {table} t JOIN (SELECT * FROM k WHERE w < 9) k ON t.n = k.n",
        f"SELECT id FROM {table} WHERE n IN (SELECT n FROM k WHERE w < 9)",
        f"SELECT id FROM {table} WHERE n = (SELECT max(n) FROM k WHERE w < 9)",
    ):
        same_rows(spark_session, query)
        assert explain_skipping(spark_session, query, analyze=True).files_kept in (1, 2, 3)


@pytest.mark.test_rest
def test_values_of_new_files(spark_session: SparkSession, tmp_path: Path) -> None:
    """REFRESH and OPTIMIZE keep the values of the same columns, and a changed file is read."""
    folder = tmp_path / "t"
    rows(spark_session).write.parquet(str(folder))
    table = ZOrderTable.for_path(spark_session, str(folder))
    table.create_skipping_index(values=["n"])
    query = f"SELECT * FROM parquet.`{folder}` WHERE n = 77"
    found = spark_session.sql(query).count()
    before = files_read(spark_session, query)[0]
    rows(spark_session, start=50_000, files=5).write.mode("append").parquet(str(folder))
    assert files_read(spark_session, query)[0] == before + 5
    table.refresh_skipping_index()
    assert files_read(spark_session, query)[0] <= before + 1
    table.optimize(zorder_by=["id"], num_files=10)
    assert files_read(spark_session, query)[0] <= before + 1
    assert spark_session.sql(query).count() >= found
    # From now on, others.
    table.optimize(order_by=["id"], num_files=8, full=True, options={"membership-columns": "who"})
    assert files_read(spark_session, query)[0] >= 6
    who = f"SELECT * FROM parquet.`{folder}` WHERE who = concat('user-', repeat('x', 200), '4711')"
    assert files_read(spark_session, who)[0] <= 3
    table.optimize(order_by=["id"], full=True, options={"membership-columns": "none"})
    assert files_read(spark_session, who)[0] >= 6
