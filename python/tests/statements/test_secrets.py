"""Protects values: permissions of the files that we write, columns excluded from the index, our messages in logs."""

import os
import stat
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import condition_of, files_read, same_rows, skips
from logs import logged
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_all

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="rights are those of POSIX")


def write(folder: Path, mode: int = 0o644, files: int = 3) -> None:
    """Write files of rows with a unique token in them."""
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(files):
        numbers = range(n * 50, n * 50 + 50)
        columns = {
            "id": pa.array(numbers, pa.int64()),
            "name": pa.array([f"Token{i:04}" for i in numbers]),
            "card": pa.array([4_242_424_240_000 + i for i in numbers], pa.int64()),
            "s": pa.array([{"deep": f"Token{i:04}", "open": i} for i in numbers]),
        }
        path = folder / f"{n}.parquet"
        pq.write_table(pa.table(columns), path)
        path.chmod(mode)


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


# --- Permissions ---


@POSIX
@pytest.mark.parametrize(
    ("of_folder", "of_files", "readable"),
    [
        (0o755, 0o644, 0o644),
        (0o750, 0o640, 0o640),
        (0o700, 0o644, 0o600),
        (0o755, 0o600, 0o600),
        (0o2770, 0o660, 0o640),
    ],
    ids=lambda mode: oct(mode)[2:],
)
def test_what_we_write_has_the_rights_of_the_table(
    spark: SparkSession, tmp_path: Path, of_folder: int, of_files: int, readable: int
) -> None:
    folder = tmp_path / "t"
    write(folder, of_files)
    folder.chmod(of_folder)
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    spark.sql(f"OPTIMIZE parquet.`{folder}` ZORDER BY (id) OPTIONS ('num-files' = '2')").collect()
    side = folder / "_zorder"
    indexes = list(side.glob("*.zidx"))
    assert len(indexes) == 2
    for path in indexes:
        assert mode_of(path) == readable, path
    for path in folder.rglob("*"):
        if "_zorder" in path.parts and path.is_dir():
            assert mode_of(path) == of_folder, path
        elif "_zorder" in path.parts and path.suffix != ".retired":
            assert mode_of(path) & ~of_folder & 0o666 == 0, path
        elif path.suffix in (".parquet", ".retired"):
            assert mode_of(path) == of_files, path
    assert len(same_rows(spark, f"SELECT * FROM parquet.`{folder}` WHERE id < 70")) == 70


@POSIX
def test_a_folder_that_few_may_enter_counts(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    for p in (1, 2):
        write(folder / f"p={p}")
    (folder / "p=1").chmod(0o700)
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{folder}`")
    [index] = (folder / "_zorder").glob("*.zidx")
    assert mode_of(index) == 0o600


@POSIX
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files to any group")
def test_files_belong_to_the_group_of_the_table(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    write(folder, 0o640)
    group = 4242
    for path in (folder, *folder.iterdir()):
        os.chown(path, -1, group)
    folder.chmod(0o750)
    spark.sql(f"OPTIMIZE parquet.`{folder}` ZORDER BY (id) OPTIONS ('num-files' = '2')").collect()
    written = [p for p in folder.rglob("*") if not p.name.endswith(".crc")]
    assert len(written) > 6
    assert {p.stat().st_gid for p in written} == {group}


# --- Excluded columns ---


def told(spark: SparkSession, folder: Path) -> set[str]:
    """The columns that the index has any statistics of."""
    return {row["column"] for row in spark.sql("DESCRIBE SKIPPING INDEX ON t").collect() if row["status"] == "indexed"}


def raw(folder: Path) -> bytes:
    """The uncompressed content of the indexes."""
    return b"".join(path.read_bytes() for path in (folder / "_zorder").glob("*.zidx"))


def blocks(folder: Path) -> bytes:
    """The compressed content of the indexes."""
    tables = [pq.ParquetFile(path).read() for path in (folder / "_zorder").glob("*.zidx")]
    assert tables
    values = [value for table in tables for column in table.columns for value in column.to_pylist()]
    return b" ".join(value if isinstance(value, bytes) else str(value).encode() for value in values)


@pytest.fixture
def table(spark: SparkSession, database: Path, tmp_path: Path) -> Path:
    """The table `t`, with a property that excludes two columns and a field from the index."""
    # What filters have found is not the index's: on a slow machine, files are old enough to be remembered.
    spark.conf.set("spark.zorder.memory.enabled", "false")
    folder = tmp_path / "t"
    write(folder)
    spark.sql(
        f"CREATE TABLE t (id BIGINT, name STRING, card BIGINT, s STRUCT<deep: STRING, open: BIGINT>) USING parquet "
        f"LOCATION '{folder}' TBLPROPERTIES ('zorder.index.exclude-columns' = 'NAME, `s`.deep ,card')"
    )
    return folder


def test_named_columns_stay_out_of_the_index(spark: SparkSession, table: Path) -> None:
    def check() -> None:
        assert told(spark, table) - {"s"} == {"id", "s.open"}
        assert b"Token" not in raw(table)
        for predicate in ("name = 'Token0070'", "card = 4242424240070", "s.deep = 'Token0070'"):
            assert len(same_rows(spark, f"SELECT * FROM t WHERE {predicate}")) == 1
            assert not skips(spark, f"SELECT * FROM t WHERE {predicate}")
        assert skips(spark, "SELECT * FROM t WHERE id = 70")

    spark.sql("CREATE SKIPPING INDEX ON t")
    check()
    write(table, files=4)
    spark.sql("REFRESH SKIPPING INDEX ON t")
    check()
    spark.sql("OPTIMIZE t ZORDER BY (id, name) OPTIONS ('num-files' = '4')")
    check()
    spark.sql("RESTORE t TO VERSION AS OF 0")
    check()


@pytest.mark.parametrize("statement", ["REFRESH SKIPPING INDEX ON t", "CREATE OR REPLACE SKIPPING INDEX ON t (id)"])
def test_boundaries_of_what_is_excluded_later_go_too(spark: SparkSession, table: Path, statement: str) -> None:
    spark.sql("ALTER TABLE t UNSET TBLPROPERTIES ('zorder.index.exclude-columns')")
    spark.sql("CREATE SKIPPING INDEX ON t (id)")
    spark.sql("OPTIMIZE t ZORDER BY (name, card) OPTIONS ('num-files' = '8')")
    # The index has no bounds of it, but a curve frame with its values. Fewer than four files would have no frame.
    assert told(spark, table) == {"id"}
    assert b"Token0" in blocks(table)
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'name')")
    spark.sql(statement)
    assert len(list((table / "_zorder").glob("*.zidx"))) == 1
    assert b"Token" not in blocks(table)


def test_a_name_that_is_none_is_told(spark: SparkSession, table: Path) -> None:
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'id, nmae')")
    with pytest.raises(PySparkException) as caught:
        spark.sql("CREATE SKIPPING INDEX ON t")
    assert caught.value.getCondition() == "ZORDER_COLUMN_NOT_FOUND"
    assert not (table / "_zorder").exists()


# --- Messages ---


def test_no_word_of_ours_holds_a_value(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "t"
    write(folder)
    source = f"parquet.`{folder}`"
    side = folder / "_zorder"
    errors: list[str] = []

    def run(statement: str) -> None:
        try:
            spark.sql(statement).collect()
        except Exception as error:
            errors.append(str(error))

    with logged(spark, tmp_path / "log", ours="ALL") as log:
        run(f"CREATE SKIPPING INDEX ON {source}")
        run(f"SELECT * FROM {source} WHERE name = 'Token0070' AND card < 4242424240100 AND s.deep LIKE 'Token00%'")
        run(f"OPTIMIZE {source} ZORDER BY (name, card) OPTIONS ('num-files' = '4')")
        newest = max(side.glob("*.zidx"))
        content = bytearray(newest.read_bytes())
        for n in range(100, len(content), 100):
            content[n] ^= 1
        newest.write_bytes(bytes(content))
        (side / "_v0000000002.publishing").write_bytes(b'{"format":1,"operation":"Token0001"}')
        run(f"SELECT * FROM {source} WHERE name = 'Token0070'")
        (side / "_v0000000002.publishing").write_bytes(b'{"format":1,"operation":"Token0001", "path": Token0002')
        run(f"SELECT * FROM {source} WHERE name = 'Token0071'")
        run(f"OPTIMIZE {source} FULL ZORDER BY (id) OPTIONS ('num-files' = '3')")
        (side / "_v0000000002.publishing").unlink()
        # Incompatible types, a truncated file, and a file of a few bytes.
        pq.write_table(pa.table({"id": ["Token0003"], "name": [4_242_424_240_001]}), folder / "other.parquet")
        run(f"OPTIMIZE {source} FULL ZORDER BY (id) OPTIONS ('num-files' = '3')")
        run(f"REFRESH SKIPPING INDEX ON {source}")
        whole = (folder / "other.parquet").read_bytes()
        (folder / "other.parquet").write_bytes(whole[: len(whole) // 2])
        run(f"OPTIMIZE {source} FULL ZORDER BY (id) OPTIONS ('num-files' = '3')")
        run(f"CREATE OR REPLACE SKIPPING INDEX ON {source}")
        (folder / "other.parquet").write_bytes(b"PAR1Token0004PAR1")
        run(f"CREATE OR REPLACE SKIPPING INDEX ON {source}")
        run(f"RESTORE {source} TO VERSION AS OF 7")
        words = log.read_text()
    assert len(errors) >= 5
    assert any("publishing" in text for text in errors)
    for text in (words, *errors):
        # Names of folders and files are not values, and the test's own name is in each.
        assert "Token" not in text
        assert "42424242" not in text


def test_the_folder_remembers_what_its_table_keeps_out(spark: SparkSession, table: Path) -> None:
    target = f"parquet.`{table}`"
    spark.sql("CREATE SKIPPING INDEX ON t")
    remembered = "_excluded-*.txt"
    assert len(list((table / "_zorder").glob(remembered))) == 1
    for statement in (
        f"CREATE OR REPLACE SKIPPING INDEX ON {target}",
        f"OPTIMIZE {target} ZORDER BY (name, id) OPTIONS ('num-files' = '3')",
        f"REFRESH SKIPPING INDEX ON {target}",
    ):
        spark.sql(statement)
        assert told(spark, table) - {"s"} == {"id", "s.open"}
        assert b"Token" not in blocks(table)
    with pytest.raises(PySparkException, match=r"ZORDER_INVALID_COLUMN\.EXCLUDED"):
        spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON {target} (card)")
    [entry] = spark.sql(f"DESCRIBE HISTORY {target}").collect()
    assert "rowHash" not in entry.operationMetrics
    # Drop the index and make it anew by the path: it has the same columns.
    spark.sql("DROP SKIPPING INDEX ON t")
    spark.sql(f"CREATE SKIPPING INDEX ON {target}")
    assert told(spark, table) - {"s"} == {"id", "s.open"}
    # A statement by the table's name reads the property, and remembers it for statements by path.
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'card')")
    spark.sql("CREATE OR REPLACE SKIPPING INDEX ON t")
    spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON {target}")
    assert told(spark, table) - {"s"} == {"id", "name", "s.open", "s.deep"}
    spark.sql("ALTER TABLE t UNSET TBLPROPERTIES ('zorder.index.exclude-columns')")
    spark.sql("CREATE OR REPLACE SKIPPING INDEX ON t")
    assert not list((table / "_zorder").glob(remembered))
    spark.sql(f"CREATE OR REPLACE SKIPPING INDEX ON {target}")
    assert {"card", "name", "s.deep"} <= told(spark, table)


def test_values_of_excluded_columns_are_not_kept(spark: SparkSession, table: Path) -> None:
    for statement in (
        "CREATE SKIPPING INDEX ON t (*, card VALUES)",
        "CREATE SKIPPING INDEX ON t (*, name BLOOM)",
        "OPTIMIZE t ZORDER BY (id) OPTIONS ('membership-columns' = 's.deep')",
    ):
        with pytest.raises(PySparkException) as refused:
            spark.sql(statement).collect()
        assert condition_of(refused.value) == "ZORDER_INVALID_COLUMN.EXCLUDED"
    spark.sql("ALTER TABLE t UNSET TBLPROPERTIES ('zorder.index.exclude-columns')")
    spark.sql("CREATE SKIPPING INDEX ON t (*, card VALUES, name VALUES)")
    assert files_read(spark, "SELECT * FROM t WHERE card = 4242424240070")[0] == 1
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'card')")
    spark.sql("REFRESH SKIPPING INDEX ON t")
    assert "card" not in told(spark, table)
    assert not skips(spark, "SELECT * FROM t WHERE card = 4242424240070")
    spark.sql("OPTIMIZE t ZORDER BY (id) OPTIONS ('num-files' = '4')")
    assert not skips(spark, "SELECT * FROM t WHERE card = 4242424240070")
    assert len(same_rows(spark, "SELECT * FROM t WHERE name = 'Token0070' AND card = 4242424240070")) == 1


def test_boundaries_of_attributes_go_with_the_column_that_is_joined(spark: SparkSession, table: Path) -> None:
    spark.sql("ALTER TABLE t UNSET TBLPROPERTIES ('zorder.index.exclude-columns')")
    spark.sql("SELECT id AS k, concat('Region', id) AS region FROM range(150)").createOrReplaceTempView("places")
    spark.sql("OPTIMIZE t JOIN places ON id = k ZORDER BY (region) OPTIONS ('num-files' = '8')")
    assert b"Region" in blocks(table)
    spark.sql("ALTER TABLE t SET TBLPROPERTIES ('zorder.index.exclude-columns' = 'id')")
    spark.sql("REFRESH SKIPPING INDEX ON t")
    assert b"Region" not in blocks(table)
