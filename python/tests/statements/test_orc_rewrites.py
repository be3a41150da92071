"""ORC files of other writers: after OPTIMIZE every reader finds what it found before."""

import datetime as dt
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from comparison import no_skipping, refused, settings
from golden import snapshot
from programs import answers_of
from pyarrow import orc
from pyspark.sql import SparkSession

from spark_zorder import jar_path

ROWS = 60
"""The rows of a file."""

KINDS = pytest.mark.parametrize("kind", ["path", "table"])


def write(folder: Path, columns: Callable[[range], pa.Table], files: int = 3) -> None:
    folder.mkdir()
    for f in range(files):
        orc.write_table(columns(range(f * ROWS, f * ROWS + ROWS)), folder / f"{f}.orc", compression="snappy")


def optimize(spark: SparkSession, folder: Path, kind: str) -> str:
    """Rewrite the files by path, or as a table of the catalog. Returns the name to query, with what was not kept."""
    name = f"orc.`{folder}`"
    if kind == "table":
        spark.sql(f"CREATE TABLE t USING orc LOCATION '{folder}'")
        name = "t"
    spark.sql(f"OPTIMIZE {name} ZORDER BY (i) OPTIONS ('num-files' = '2')").collect()
    return name


def not_kept(spark: SparkSession, name: str) -> str | None:
    last = spark.sql(f"DESCRIBE HISTORY {name}").collect()[0]
    return dict(last["operationMetrics"]).get("notKept")


def stored(folder: Path) -> list[dict[str, Any]]:
    """The rows as pyarrow reads them, in the order of i."""
    rows = [row for file in folder.glob("*.orc") for row in orc.read_table(file).to_pylist()]
    return sorted(rows, key=lambda row: row["i"])


def schema(folder: Path) -> pa.Schema:
    (one,) = {orc.read_table(file).schema.to_string(show_field_metadata=True) for file in folder.glob("*.orc")}
    assert one
    return orc.read_table(next(folder.glob("*.orc"))).schema


@pytest.mark.test_rest
@KINDS
def test_maps_keep_order_and_repeated_keys(spark: SparkSession, database: Path, tmp_path: Path, kind: str) -> None:
    def columns(ids: range) -> pa.Table:
        maps = [[("k", 1), ("k", 2), ("a", i)] if i % 3 else [("z", i), ("b", None), ("y", 0)] for i in ids]
        texts = pa.map_(pa.string(), pa.int64())
        nested = pa.array([[m, None] for m in maps], pa.list_(texts))
        return pa.table({"i": list(ids), "m": pa.array(maps, texts), "l": nested})

    folder = tmp_path / "maps"
    write(folder, columns)
    query = "SELECT i, size(m) AS n, m['k'] AS k, map_keys(m) AS keys, map_keys(l[0]) AS inner FROM {} ORDER BY i"
    before, rows = stored(folder), spark.sql(query.format(f"orc.`{folder}`")).collect()
    assert rows[1].asDict() == {"i": 1, "n": 3, "k": 1, "keys": ["k", "k", "a"], "inner": ["k", "k", "a"]}
    # A reader that makes sorted maps must not be the one that a rewrite reads with.
    with settings(spark, spark_sql_orc_enableNestedColumnVectorizedReader="false"):
        name = optimize(spark, folder, kind)
    assert spark.sql(query.format(name)).collect() == rows
    assert stored(folder) == before
    assert not_kept(spark, name) is None


@pytest.mark.test_rest
@KINDS
def test_instants_and_attributes_of_types_stay(spark: SparkSession, database: Path, tmp_path: Path, kind: str) -> None:
    utc = pa.timestamp("us", tz="UTC")
    field = pa.field("at", utc, metadata={"iceberg.id": "7", "iceberg.required": "false"})
    inner = pa.field("in", pa.struct([pa.field("w", utc, metadata={"iceberg.id": "9"})]), metadata={"iceberg.id": "8"})
    ids = pa.field("i", pa.int64(), metadata={"iceberg.id": "1"})
    start = dt.datetime(2024, 3, 10, 7, 30, tzinfo=dt.timezone.utc)

    def columns(rows: range) -> pa.Table:
        at = [start + dt.timedelta(minutes=7 * i, microseconds=i) for i in rows]
        values = [list(rows), at, [{"w": v} if i % 4 else None for i, v in zip(rows, at, strict=True)]]
        return pa.table([pa.array(v, f.type) for v, f in zip(values, fields, strict=True)], pa.schema(fields))

    fields = [ids, field, inner]
    folder = tmp_path / "instants"
    write(folder, columns)
    before, kinds = stored(folder), schema(folder)
    assert kinds.field("at").metadata == {b"iceberg.id": b"7", b"iceberg.required": b"false"}
    count = "SELECT count(*) FROM {} WHERE at >= TIMESTAMP'2024-03-10 11:00:00Z'"
    found = spark.sql(count.format(f"orc.`{folder}`")).collect()[0][0]
    name = optimize(spark, folder, kind)
    assert stored(folder) == before
    # Without the metadata of the file, such as Spark's version.
    assert schema(folder).remove_metadata().equals(kinds.remove_metadata(), check_metadata=True)
    with no_skipping(spark):
        assert spark.sql(count.format(name)).collect()[0][0] == found > 0
    assert not_kept(spark, name) is None


@pytest.mark.test_rest
def test_old_days_and_times_are_found_in_narrow_files(spark: SparkSession, tmp_path: Path) -> None:
    """Spark hands literals of them to ORC in another calendar."""
    folder = tmp_path / "old"
    gap = "SELECT explode(sequence(DATE'1582-09-28', DATE'1582-10-20'))"
    spark.sql(
        f"SELECT d, CAST(d AS TIMESTAMP) t, CAST(d AS STRING) s FROM (SELECT date_add(DATE'0001-01-01', "
        f"CAST(id AS INT) * 18000) d FROM range(40) UNION {gap}) ORDER BY s"
    ).repartition(1).write.orc(str(folder))
    days = [row.s for row in spark.sql(f"SELECT s FROM orc.`{folder}` ORDER BY s").collect()]

    def lost() -> Counter[str]:
        with no_skipping(spark):
            selects = [
                f"SELECT s FROM orc.`{folder}` WHERE {c} = {kind}'{day}'"
                for c, kind in (("t", "TIMESTAMP"), ("d", "DATE"))
                for day in days
            ]
            parts = [" UNION ALL ".join(selects[i : i + 48]) for i in range(0, len(selects), 48)]
            found = Counter(row.s for part in parts for row in spark.sql(part).collect())
        return Counter(days + days) - found

    assert lost() == {"0001-01-01": 1}
    spark.sql(f"OPTIMIZE orc.`{folder}` ORDER BY (t) OPTIONS ('num-files' = '24')").collect()
    assert not lost()


def test_a_type_that_the_files_disagree_on_is_sparks_own_and_reported(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    for f, zone in enumerate(["UTC", None]):
        at = pa.array([10**15 + f * 10**9 + i for i in range(ROWS)], pa.timestamp("us", tz=zone))
        n = pa.field("n", pa.int64(), metadata={"iceberg.id": str(f), "same": "yes"})
        ids = pa.array(range(f * ROWS, f * ROWS + ROWS))
        table = pa.table([ids, at, ids], pa.schema([pa.field("i", pa.int64()), pa.field("at", at.type), n]))
        orc.write_table(table, folder / f"{f}.orc")
    rows = spark.sql(f"SELECT * FROM orc.`{folder}` ORDER BY i").collect()
    name = optimize(spark, folder, "path")
    assert spark.sql(f"SELECT * FROM orc.`{folder}` ORDER BY i").collect() == rows
    assert not_kept(spark, name) == "stored type of `at`; type attribute `iceberg.id` of `n`"
    assert schema(folder).field("at").type == pa.timestamp("ns")
    assert schema(folder).field("n").metadata == {b"same": b"yes"}


NULLS = [
    "s.f IS NULL",
    "s.f IS NOT NULL",
    "s.t.g IS NULL",
    "s.t.g IS NULL AND s.f IS NOT NULL",
    "s.f <=> NULL",
    "s.l IS NULL",
    "s.t IS NULL",
    "s.f = 4 OR s.t.g IS NULL",
    "NOT (s.f = 4)",
]


@pytest.mark.test_rest
@KINDS
@pytest.mark.parametrize("writer", ["pyarrow", "spark"])
def test_fields_of_null_are_found(spark: SparkSession, database: Path, tmp_path: Path, kind: str, writer: str) -> None:
    def row(i: int) -> dict[str, Any] | None:
        inner = None if i % 5 == 1 else {"g": i, "h": f"t{i}"}
        return None if i % 12 == 3 else {"f": i, "t": inner, "l": [i, None]}

    inner = pa.struct([("g", pa.int64()), ("h", pa.string())])
    kinds = pa.struct([("f", pa.int64()), ("t", inner), ("l", pa.list_(pa.int64()))])
    folder = tmp_path / "structs"
    write(folder, lambda ids: pa.table({"i": list(ids), "s": pa.array([row(i) for i in ids], kinds)}))
    expected = {p: spark.sql(f"SELECT * FROM orc.`{folder}` WHERE {p}").collect() for p in NULLS}
    assert len(expected["s.f IS NULL"]) == 15
    assert len(expected["s.t.g IS NULL"]) == 48
    if writer == "spark":
        spark.sql(f"SELECT * FROM orc.`{folder}`").coalesce(1).write.mode("append").orc(str(tmp_path / "own"))
        folder = tmp_path / "own"
        # Spark's own files have the fault that a rewrite must not have.
        assert spark.sql(f"SELECT * FROM orc.`{folder}` WHERE s.f IS NULL").count() == 0
    name = optimize(spark, folder, kind)
    with no_skipping(spark):
        for predicate, rows in expected.items():
            found = spark.sql(f"SELECT * FROM {name} WHERE {predicate}").collect()
            assert Counter(map(str, found)) == Counter(map(str, rows)), predicate


def test_batches_of_zeros_with_both_signs_are_rewritten(spark: SparkSession, tmp_path: Path) -> None:
    """ORC's Java reader takes a batch of zeros for one repeated value, whatever their signs."""

    def columns(i: range) -> pa.Table:
        zeros = pa.array([-0.0 if n % 2 else 0.0 for n in i])
        mixed = pa.array([-0.0 if n % 2 else 0.0 if n % ROWS > 3 else 5.0 for n in i])
        return pa.table({"i": list(i), "zeros": zeros, "mixed": mixed})

    write(tmp_path / "t", columns)
    before = stored(tmp_path / "t")
    optimize(spark, tmp_path / "t", "path")
    # As numbers both zeros are equal.
    assert stored(tmp_path / "t") == before
    with no_skipping(spark):
        assert spark.sql(f"SELECT * FROM orc.`{tmp_path / 't'}` WHERE zeros = 0").count() == len(before)


@pytest.mark.test_rest
def test_orcs_reader_finds_characters_that_its_writer_orders_otherwise(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    for text in ("\uffee", "\U0001f600", "a"):
        spark.createDataFrame([(n, text) for n in range(50)], "id INT, x STRING").coalesce(1).write.mode("append").orc(
            str(folder)
        )
    spark.sql(f"OPTIMIZE orc.`{folder}` ZORDER BY (id) OPTIONS ('num-files' = '1')").collect()
    assert len(list(folder.glob("*.orc"))) == 1
    with settings(spark, spark_sql_orc_filterPushdown="true", spark_zorder_skipping_enabled="false"):
        for text in ("\uffee", "\U0001f600", "a"):
            assert spark.read.orc(str(folder)).where(f"x = '{text}'").count() == 50
        assert spark.read.orc(str(folder)).where("x = 'b' AND id >= 0").count() == 0


@pytest.mark.test_rest
@pytest.mark.parametrize(("clock", "gap"), [("02:30", True), pytest.param("03:30", False, marks=pytest.mark.test_all)])
def test_a_clock_that_a_time_zone_skips_is_refused(tmp_path: Path, clock: str, gap: bool) -> None:
    folder = tmp_path / "t"
    times = [dt.datetime.fromisoformat(f"2020-03-29 {clock}"), dt.datetime(2020, 10, 25, 2, 30), None]
    write(folder, lambda _: pa.table({"k": [1, 2, 3], "t": times}), files=2)
    before = snapshot(folder)
    answers = answers_of("berlin.py", str(jar_path()), "optimize", str(folder), folder=tmp_path)
    if gap:
        error = answers["optimize"]["error"]
        assert "[ZORDER_UNSAFE_FILES.AMBIGUOUS_CLOCK]" in error
        assert "`t`" in error
        assert "Europe/Berlin" in error
        assert snapshot(folder) == before
    else:
        assert answers["optimize"][0]["metrics"]["numFilesAdded"] == 1
        [file] = folder.glob("*.orc")
        assert sorted(map(str, orc.read_table(file)["t"].to_pylist())) == sorted(map(str, times * 2))


@pytest.mark.test_all
def test_a_clock_that_the_writers_zone_has_twice_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    answers_of("berlin.py", str(jar_path()), "write", str(folder), folder=tmp_path)
    before = snapshot(folder)
    condition, message = refused(spark, f"OPTIMIZE orc.`{folder}` ZORDER BY (k)")
    assert condition == "ZORDER_UNSAFE_FILES.AMBIGUOUS_CLOCK"
    assert "Europe/Berlin" in message
    assert snapshot(folder) == before
