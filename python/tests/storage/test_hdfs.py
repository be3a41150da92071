"""Tables on a real HDFS: two users with permissions, snapshots, an encryption zone, storage policies."""

import getpass
from collections.abc import Iterator
from pathlib import Path

import pytest
from mini_hadoop import mini_hadoop
from processes import wait_until
from spark_process import SparkProcess
from steps import environment, step

pytestmark = pytest.mark.test_all

ROWS = 4000
SUPERUSER = getpass.getuser()


@pytest.fixture(scope="module")
def configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with mini_hadoop(tmp_path_factory.mktemp("hdfs"), "MiniHdfs.java", "core-site.xml") as folder:
        yield folder


def spark_of(configuration: Path, user: str, work: Path, *, extension: bool = True, asked: str = "") -> SparkProcess:
    """A Spark of a user of the cluster."""
    variables = {"HADOOP_CONF_DIR": str(configuration), "HADOOP_USER_NAME": user}
    if asked:
        variables |= environment(asked)
    made = SparkProcess(work, {}, extension=extension, environment=variables)
    made.run(
        "storage = spark._jvm.org.apache.hadoop.fs.FileSystem.get(spark._jsc.sc().hadoopConfiguration())\n"
        "path = spark._jvm.org.apache.hadoop.fs.Path\n"
        "mode = lambda octal: spark._jvm.org.apache.hadoop.fs.permission.FsPermission(octal)\n"
        "data = lambda root: [n for n in files(root) if n.endswith('.parquet')]"
    )
    return made


@pytest.fixture(scope="module")
def alice(configuration: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    with spark_of(configuration, "alice", tmp_path_factory.mktemp("alice")) as process:
        yield process


@pytest.fixture(scope="module")
def bob(configuration: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    with spark_of(configuration, "bob", tmp_path_factory.mktemp("bob")) as process:
        yield process


def write(spark: SparkProcess, root: str, *parts: str) -> None:
    spark.run(
        f"spark.range({ROWS}).selectExpr('id', 'id % 2 AS p', 'hash(id) % 1000 AS a').repartition(4)"
        f".write.partitionBy(*{parts!r}).parquet({root!r})"
    )


def clustered(root: str) -> str:
    return f"OPTIMIZE parquet.`{root}` ZORDER BY (a) OPTIONS ('num-files' = '4')"


def ids(spark: SparkProcess, root: str) -> tuple[int, int]:
    return spark.ids(f"spark.read.parquet({root!r})")


def test_permissions_decide_who_may_optimize_and_pass_to_new_files(alice: SparkProcess, bob: SparkProcess) -> None:
    root = "/open/permissions"
    write(alice, root, "p")
    alice.run(f"storage.setPermission(path({root!r}), mode(0o755))")
    assert bob.refused(clustered(root))[0] == "ZORDER_NO_WRITE_PERMISSION"
    assert ids(bob, root) == (ROWS, ROWS)
    # Everybody may write now, but read only if alice lets them.
    alice.run(
        f"for name in ('', '/p=0', '/p=1'): storage.setPermission(path({root!r} + name), mode(0o777))\n"
        f"for name in data({root!r}): storage.setPermission(path({root!r} + '/' + name), mode(0o640))\n"
        f"result = None"
    )
    condition, _ = bob.refused(clustered(root))
    assert condition.startswith(("ZORDER_", "FAILED_READ_FILE"))
    assert ids(alice, root) == (ROWS, ROWS)
    alice.sql(clustered(root))
    rights = alice.run(
        f"result = sorted({{storage.getFileStatus(path({root!r} + '/' + n)).getPermission().toString() "
        f"for n in data({root!r})}})"
    )
    assert rights == ["rw-r-----"]
    assert ids(alice, root) == (ROWS, ROWS)


def test_another_user_takes_over(alice: SparkProcess, bob: SparkProcess, configuration: Path, tmp_path: Path) -> None:
    root = "/open/takeover"
    write(alice, root, "p")
    alice.run(f"for n in ('', '/p=0', '/p=1'): storage.setPermission(path({root!r} + n), mode(0o777))\nresult = None")
    for place in ("reveal-1", "retire-1", "before-record-done"):
        with (
            spark_of(configuration, "alice", tmp_path / place, asked=step(place)) as victim,
            pytest.raises(AssertionError),
        ):
            victim.sql(clustered(root).replace("ZORDER", "FULL ZORDER"))
        assert ids(bob, root) == (ROWS, ROWS), place
        assert ids(alice, root) == (ROWS, ROWS), place


@pytest.mark.parametrize("place", ["after-commit-point", "reveal-1", "decided", "retire-1"])
def test_a_snapshot_that_is_taken_while_files_are_exchanged_has_every_row_once(
    alice: SparkProcess, configuration: Path, tmp_path: Path, place: str
) -> None:
    root = f"/open/snapshot-{place}"
    write(alice, root, "p")
    go_on = tmp_path / "go-on"
    with spark_of(configuration, "alice", tmp_path / "slow", asked=step(place, go_on)) as slow:
        slow.send(f"result = rows(spark.sql({clustered(root)!r}))")
        wait_until(Path(f"{go_on}.reached").exists, "the place", 120)
        with spark_of(configuration, SUPERUSER, tmp_path / "superuser") as superuser:
            superuser.run(f"storage.createSnapshot(path('/open'), {place!r})\nresult = None")
        go_on.touch()
        slow.run("result = None")
    assert ids(alice, root) == (ROWS, ROWS)
    # A snapshot cannot be written to, so nobody can finish in it what had begun.
    assert ids(alice, f"/open/.snapshot/{place}/snapshot-{place}") == (ROWS, ROWS)
    alice.sql(f"RESTORE parquet.`{root}` TO VERSION AS OF 0")
    assert ids(alice, root) == (ROWS, ROWS)


def test_a_table_in_an_encryption_zone(alice: SparkProcess, configuration: Path, tmp_path: Path) -> None:
    root = "/zone/table"
    write(alice, root, "p")
    alice.sql(clustered(root))
    alice.sql(f"RESTORE parquet.`{root}` TO VERSION AS OF 0")
    alice.sql(f"RESTORE parquet.`{root}` TO VERSION AS OF 1")
    alice.sql(f"VACUUM parquet.`{root}` RETAIN 0 HOURS")
    assert ids(alice, root) == (ROWS, ROWS)
    [scan] = alice.sql(f"EXPLAIN SKIPPING SELECT * FROM parquet.`{root}` WHERE a = 5")
    assert scan["files_kept"] * 2 <= scan["files_total"]
    encrypted = alice.run(
        f"result = [storage.getFileStatus(path({root!r} + '/' + n)).isEncrypted() for n in files({root!r})]"
    )
    assert all(encrypted)


def test_each_partition_keeps_its_storage_policy(alice: SparkProcess, configuration: Path, tmp_path: Path) -> None:
    root = "/open/policies"
    write(alice, root, "p")
    with spark_of(configuration, SUPERUSER, tmp_path / "superuser") as superuser:
        superuser.run(f"storage.setStoragePolicy(path('{root}/p=1'), 'ALL_SSD')\nresult = None")
    alice.sql(clustered(root))
    policies = alice.run(
        f"result = sorted({{(n[:3], storage.getStoragePolicy(path({root!r} + '/' + n)).getName()) "
        f"for n in data({root!r}) if '_zorder' not in n}})"
    )
    assert policies == [["p=0", "HOT"], ["p=1", "ALL_SSD"]]
    assert ids(alice, root) == (ROWS, ROWS)
