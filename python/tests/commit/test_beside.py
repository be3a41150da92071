"""Files and folders beside a table's own: those tied to a data file's name, and the folder that publishing makes."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from comparison import refused
from pyspark.sql import SparkSession

BY_CATALOG = "ZORDER BY (id) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '2')"


def write(spark: SparkSession, folder: Path, rows: int = 60, files: int = 3) -> list[Path]:
    spark.range(0, rows, 1, files).write.mode("append").parquet(str(folder))
    return sorted(folder.glob("*.parquet"))


OTHERS = {"bak": "_{}.bak", "rsync": ".{}.Xy12Zz", "folder": "_of_{}/x", "put": "{}._COPYING_"}


@pytest.mark.parametrize(
    "beside", [".{}.swp", *(pytest.param(form, id=name, marks=pytest.mark.test_all) for name, form in OTHERS.items())]
)
def test_a_file_with_something_tied_to_its_name_stays(spark: SparkSession, tmp_path: Path, beside: str) -> None:
    first = write(spark, tmp_path / "t")[0]
    tied = tmp_path / "t" / beside.format(first.name)
    tied.parent.mkdir(exist_ok=True)
    tied.write_text("mine")
    condition, message = refused(spark, f"OPTIMIZE '{tmp_path / 't'}' ZORDER BY (id) OPTIONS ('num-files' = '2')")
    assert condition == "ZORDER_UNSAFE_TABLE.TIED_FILES"
    assert first.name in message
    assert not (tmp_path / "t" / "_zorder" / "trash").exists()
    tied.unlink()
    if beside.endswith("/x"):
        tied.parent.rmdir()
    spark.sql(f"OPTIMIZE '{tmp_path / 't'}' ZORDER BY (id) OPTIONS ('num-files' = '2')")
    assert spark.read.parquet(str(tmp_path / "t")).count() == 60


@pytest.mark.test_rest
def test_what_is_tied_to_another_partition_does_not_matter(spark: SparkSession, tmp_path: Path) -> None:
    for part in ("p=1", "p=2"):
        first = write(spark, tmp_path / "t" / part)[0]
        (first.parent / f".{first.name}.swp").write_text(part)
    (tmp_path / "t" / "p=1" / f".{sorted((tmp_path / 't' / 'p=1').glob('*.parquet'))[0].name}.swp").unlink()
    statement = f"OPTIMIZE '{tmp_path / 't'}' {{}} ZORDER BY (id) OPTIONS ('num-files' = '2')"
    assert refused(spark, statement.format(""))[0] == "ZORDER_UNSAFE_TABLE.TIED_FILES"
    spark.sql(statement.format("WHERE p = 1"))
    assert spark.read.parquet(str(tmp_path / "t")).count() == 120


@pytest.mark.test_rest
def test_restore_and_vacuum_leave_a_file_with_something_tied_to_it(spark: SparkSession, tmp_path: Path) -> None:
    table = f"'{tmp_path / 't'}'"
    old = write(spark, tmp_path / "t")[0]
    spark.sql(f"OPTIMIZE {table} ZORDER BY (id) OPTIONS ('num-files' = '2')")
    new = min((tmp_path / "t").glob("*.parquet"))
    for name, statement in (
        (new.name, f"RESTORE {table} TO VERSION AS OF 0"),
        (old.name, f"VACUUM {table} RETAIN 0 HOURS"),
    ):
        tied = tmp_path / "t" / f".{name}.swp"
        tied.write_text("mine")
        assert refused(spark, statement)[0] == "ZORDER_UNSAFE_TABLE.TIED_FILES"
        tied.unlink()
    (tmp_path / "t" / f".{old.name}.swp").write_text("mine")
    spark.sql(f"RESTORE {table} TO VERSION AS OF 0")
    assert old.exists()
    assert spark.read.parquet(str(tmp_path / "t")).count() == 60


def late(root: Path, name: str) -> Path:
    """A file of a writer that did not see the table move."""
    source = min(root.rglob("*.parquet"))
    target = root / name
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(source, target)
    return target


@pytest.mark.test_rest
def test_a_late_file_with_something_tied_is_not_copied(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    root = tmp_path / "t"
    write(spark, root)
    spark.sql(f"CREATE TABLE tied (id BIGINT) USING parquet LOCATION '{root}'")
    spark.sql(f"OPTIMIZE tied {BY_CATALOG}")
    came = late(root, "late.parquet")
    beside = root / f"_KEY_MATERIAL_FOR_{came.name}.json"
    beside.write_text("{}")
    assert spark.table("tied").count() == 60
    for statement in (
        f"OPTIMIZE tied FULL {BY_CATALOG}",
        "REFRESH SKIPPING INDEX ON tied",
        "VACUUM tied RETAIN 0 HOURS",
    ):
        condition, message = refused(spark, statement)
        assert condition == "ZORDER_UNSAFE_FILES.ENCRYPTED"
        assert beside.name in message
    assert came.exists()
    assert spark.table("tied").count() == 60
    rows = 60 + spark.read.parquet(str(came)).count()
    beside.unlink()
    spark.sql("REFRESH SKIPPING INDEX ON tied")
    assert spark.table("tied").count() == rows


@pytest.mark.test_rest
@pytest.mark.parametrize(
    "place", ["flat/t", *(pytest.param(place, marks=pytest.mark.test_all) for place in ("ev/p=1/t", "parts/t"))]
)
def test_no_folder_is_made_that_readers_see(spark: SparkSession, database: Path, tmp_path: Path, place: str) -> None:
    write(spark, tmp_path / place, rows=30)
    if place.startswith("ev"):
        write(spark, tmp_path / "ev" / "p=2", rows=30)
    if place == "flat/t":
        write(spark, tmp_path / "flat", rows=30)
    if place == "parts/t":
        write(spark, tmp_path / "parts" / "p=2", rows=30)
    before = sorted(tmp_path.rglob("*"))
    spark.sql(f"CREATE TABLE one (id BIGINT) USING parquet LOCATION '{tmp_path / place}'")
    condition, message = refused(spark, f"OPTIMIZE one {BY_CATALOG}")
    assert condition == "ZORDER_UNSUPPORTED_COMMIT_MODE.FOLDER_BESIDE"
    assert f"{tmp_path / place}__zorder" in message
    assert sorted(tmp_path.rglob("*")) == before
    spark.sql("OPTIMIZE one ZORDER BY (id) OPTIONS ('num-files' = '2')")
    assert spark.table("one").count() == 30


def test_nothing_is_made_beside_another_file_system(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK) or memory.stat().st_dev == tmp_path.stat().st_dev:
        pytest.skip("no second file system to write to")
    with tempfile.TemporaryDirectory(dir=memory) as other:
        write(spark, Path(other))
        (tmp_path / "t").symlink_to(other)
        spark.sql(f"CREATE TABLE mounted (id BIGINT) USING parquet LOCATION '{tmp_path / 't'}'")
        before = {*tmp_path.iterdir(), *Path(other).iterdir()}
        condition, message = refused(spark, f"OPTIMIZE mounted {BY_CATALOG}")
        assert condition == "ZORDER_UNSUPPORTED_COMMIT_MODE.FOLDER_BESIDE"
        assert "another file system" in message
        assert {*tmp_path.iterdir(), *Path(other).iterdir()} == before


@pytest.mark.test_rest
def test_tables_and_other_files_beside_a_table_do_no_harm(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    root = tmp_path / "wh"
    for name in ("one", "two"):
        write(spark, root / name)
        spark.sql(f"CREATE TABLE {name} (id BIGINT) USING parquet LOCATION '{root / name}'")
    (root / "derby.log").write_text("no data")
    (root / "_SUCCESS").touch()
    for name in ("one", "two"):
        spark.sql(f"OPTIMIZE {name} {BY_CATALOG}")
        assert spark.table(name).count() == 60


@pytest.mark.test_rest
def test_late_rows_stay_when_only_the_location_changes(spark: SparkSession, database: Path, tmp_path: Path) -> None:
    root = tmp_path / "t"
    spark.sql(f"CREATE TABLE parts (id BIGINT, p INT) USING parquet PARTITIONED BY (p) LOCATION '{root}'")
    spark.sql("INSERT INTO parts SELECT /*+ REPARTITION(2) */ id, CAST(id % 2 AS INT) AS p FROM range(60)")
    spark.sql(f"OPTIMIZE parts {BY_CATALOG}")
    came = root / "p=1" / "late.parquet"
    spark.range(100, 101, 1, 1).write.parquet(str(tmp_path / "one"))
    shutil.copy(min((tmp_path / "one").glob("*.parquet")), came)
    (tmp_path / "elsewhere").mkdir()
    spark.sql(f"ALTER TABLE parts SET LOCATION '{tmp_path / 'elsewhere'}'")
    assert spark.table("parts").count() == 60
    statements = [
        "OPTIMIZE parts FULL ZORDER BY (id) OPTIONS ('num-files' = '2')",
        f"OPTIMIZE parts FULL {BY_CATALOG}",
        "CREATE OR REPLACE SKIPPING INDEX ON parts",
        "RESTORE parts TO VERSION AS OF 0",
        "VACUUM parts RETAIN 0 HOURS",
    ]
    for statement in statements:
        condition, message = refused(spark, statement)
        assert condition == "ZORDER_TABLE_UNCLEAR.LOCATION_CHANGED", statement
        assert str(root) in message
        assert str(tmp_path / "elsewhere") in message
    assert not (tmp_path / "elsewhere" / "_zorder").exists()
    spark.sql(f"ALTER TABLE parts SET LOCATION '{root}'")
    spark.sql("VACUUM parts RETAIN 0 HOURS")
    assert spark.table("parts").count() == 61


@pytest.mark.test_rest
@pytest.mark.parametrize("parts", ["", "PARTITIONED BY (p)"])
def test_uninstall_of_a_table_that_moved_leaves_no_riddle(
    spark: SparkSession, database: Path, tmp_path: Path, parts: str
) -> None:
    root = tmp_path / "t"
    spark.sql(f"CREATE TABLE told (id BIGINT, p INT) USING parquet {parts} LOCATION '{root}'")
    spark.sql("INSERT INTO told SELECT id, id % 2 FROM range(0, 1000, 1, 4)")
    spark.sql(f"OPTIMIZE told {BY_CATALOG}")
    command = [sys.executable, "-m", "spark_zorder", "uninstall", str(root), "--yes"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    said = done.stdout + done.stderr
    assert "has left this folder" in said
    assert "VACUUM before an uninstall deletes these" in said
    assert "did not make" not in said
    assert spark.table("told").count() == spark.table("told").distinct().count() == 1000
