"""OPTIMIZE refuses a folder without the right to write, and leaves it as it was. Queries on it go on."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from comparison import condition_of
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from spark_zorder import ZOrderTable, jar_path

pytestmark = pytest.mark.test_all


def contents(folder: Path) -> dict[str, tuple[bytes, int]]:
    files = (p for p in sorted(folder.rglob("*")) if p.is_file())
    return {str(p.relative_to(folder)): (p.read_bytes(), p.stat().st_mtime_ns) for p in files}


def spark_sql(statements: str, work: Path, user: int | None) -> subprocess.CompletedProcess[str]:
    """Run Spark's SQL shell without its launcher, as a user with limited permissions, because root has no limits."""
    import pyspark

    jars = Path(pyspark.__file__).parent / "jars"
    packages = ("java.lang", "java.nio", "java.util", "sun.nio.ch", "java.net")
    command = ["java", "-Xmx1g", *(f"--add-opens=java.base/{p}=ALL-UNNAMED" for p in packages)]
    command += ["-Djdk.reflect.useDirectMethodHandle=false", f"-Dderby.system.home={work}"]
    command += ["-Dspark.master=local[1]", "-Dspark.ui.enabled=false", "-Dspark.sql.catalogImplementation=in-memory"]
    command += ["-Dspark.sql.extensions=org.sparkzorder.ZOrderSparkExtension", f"-Dspark.local.dir={work}"]
    command += [f"-Dspark.sql.warehouse.dir={work}/warehouse", f"-Djava.io.tmpdir={work}"]
    command += ["-cp", f"{jar_path()}{os.pathsep}{jars}/*"]
    command += ["org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver", "-e", statements]
    environment = {k: v for k, v in os.environ.items() if k in ("PATH", "JAVA_HOME")}
    environment |= {"HOME": str(work), "SPARK_LOCAL_IP": "127.0.0.1"}
    return subprocess.run(
        command, cwd=work, env=environment, user=user, capture_output=True, text=True, timeout=180, check=False
    )


@pytest.fixture
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that everybody may enter."""
    folder = tmp_path_factory.mktemp("permissions")
    if os.geteuid() == 0:
        for path in (folder, *folder.parents[:2]):
            path.chmod(0o755)
    return folder


@pytest.fixture
def user(base: Path) -> int | None:
    """A user with limited permissions. None if this user is one."""
    if os.geteuid() != 0:
        return None
    nobody = pwd.getpwnam("nobody").pw_uid
    probe = subprocess.run(["test", "-r", str(jar_path()), "-a", "-r", str(base)], user=nobody, check=False)
    if probe.returncode != 0:
        pytest.skip("running as root, and nobody else may read this checkout")
    return nobody


@pytest.fixture
def work(base: Path) -> Path:
    """A folder that everybody may write."""
    folder = base / "work"
    folder.mkdir()
    folder.chmod(0o777)
    return folder


@pytest.fixture
def table(base: Path) -> Path:
    """Three files of a hundred rows."""
    folder = base / "table"
    folder.mkdir()
    for i in range(3):
        pq.write_table(pa.table({"a": list(range(i, 300, 3))}), folder / f"{i}.parquet")
    return folder


posix = pytest.mark.skipif(sys.platform == "win32", reason="permissions are those of POSIX")


@posix
@pytest.mark.parametrize(
    ("closed", "mode", "begins", "said"),
    [
        ("", 0o555, "OPTIMIZE", "NO_WRITE_PERMISSION] The folder {}"),
        ("p=1", 0o555, "OPTIMIZE", "NO_WRITE_PERMISSION] The folder {}"),
        ("p=1", 0o333, "CREATE SKIPPING INDEX ON", "ZORDER_OPERATION_FAILED.UNCHANGED] CREATE SKIPPING INDEX"),
    ],
)
def test_a_folder_without_rights_is_named_and_left_alone(
    table: Path, work: Path, user: int | None, closed: str, mode: int, begins: str, said: str
) -> None:
    folder = table / closed
    folder.mkdir(exist_ok=True)
    for file in table.glob("*.parquet"):
        file.rename(folder / file.name)
    table.chmod(0o777)
    before = contents(table)
    folder.chmod(mode)
    try:
        clustered = " ZORDER BY (a) OPTIONS ('num-files' = '2')" if begins == "OPTIMIZE" else ""
        refused = spark_sql(f"{begins} parquet.`{table}`{clustered}", work, user)
        assert refused.returncode != 0
        assert said.format(folder) in refused.stdout + refused.stderr, refused.stderr[-2000:]
        if mode == 0o555:
            asked = spark_sql(f"SELECT count(*), sum(a) FROM parquet.`{table}` WHERE a >= 10", work, user)
            assert asked.stdout.split() == ["290", str(sum(range(10, 300)))], asked.stderr[-2000:]
    finally:
        folder.chmod(0o755)
    assert contents(table) == before


@posix
def test_a_file_system_that_is_mounted_read_only_is_named(spark: SparkSession, table: Path) -> None:
    """An administrator has all rights there."""
    bound = subprocess.run(["mount", "--bind", table, table], check=False, capture_output=True)
    if bound.returncode != 0:
        pytest.skip("this user may not mount")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", table], check=True)
        for statement in ("OPTIMIZE {} ZORDER BY (a) OPTIONS ('num-files' = '2')", "CREATE SKIPPING INDEX ON {}"):
            with pytest.raises(PySparkException) as caught:
                spark.sql(statement.format(f"parquet.`{table}`")).collect()
            assert condition_of(caught.value) == "ZORDER_NO_WRITE_PERMISSION", caught.value
            assert f"{table} cannot be written: its file system is mounted read-only" in str(caught.value)
        assert str(ZOrderTable.for_path(spark, table).vacuum(0)) == "There was nothing to delete."
    finally:
        subprocess.run(["umount", table], check=True)


@posix
def test_who_may_not_write_has_answers(spark: SparkSession, table: Path, work: Path, user: int | None) -> None:
    spark.sql(f"CREATE SKIPPING INDEX ON parquet.`{table}`")
    before = contents(table)
    folders = [table, table / "_zorder"]
    for folder in folders:
        folder.chmod(0o555)
    query = f"SELECT count(*), sum(a) FROM parquet.`{table}` WHERE a >= 10"
    try:
        asked = spark_sql(f"SET spark.zorder.workload.enabled = true; {query}; {query}", work, user)
    finally:
        for folder in folders:
            folder.chmod(0o755)
    assert asked.returncode == 0, asked.stderr[-2000:]
    answer = ["290", str(sum(range(10, 300)))]
    assert [line.split() for line in asked.stdout.splitlines()[-2:]] == [answer, answer], asked.stdout
    told = [line for line in (asked.stdout + asked.stderr).splitlines() if "is not recorded" in line]
    assert len(told) == 1, asked.stderr[-2000:]
    assert str(table) in told[0]
    assert not (table / "_zorder" / "workload").exists()
    assert contents(table) == before
