"""One session for all tests that need Spark."""

import importlib.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from fetched_jars import are_there, fetched_jars
from local_session import local_session
from pyspark.sql import SparkSession
from rival import Rival
from s3_server import S3Server, client_jars, s3_server
from small_tables import SmallTable
from spark_versions import SPARKS

from spark_zorder import artifacts

pytest_plugins = ["file_lines"]


REPOSITORY = Path(__file__).parents[2]

# What more than one test needs, and programs that tests start.
SUPPORT = Path(__file__).parent / "support"

# Most code of a test runs a few times only: the optimizing compiler and its threads cost more than they bring. Every
# JVM of the tests sees this.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")


def tool(name: str) -> ModuleType:
    """A program of the folder `tools`, which is no package."""
    spec = importlib.util.spec_from_file_location(name, REPOSITORY / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def spark_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session that is started once. Tests take `spark`."""
    group = client_jars()
    store = {"spark.driver.extraClassPath": ":".join(fetched_jars(group))} if are_there(group) else {}
    session = local_session(tmp_path_factory.mktemp("spark"), settings=store)
    yield session
    session.stop()


@pytest.fixture
def spark(spark_session: SparkSession) -> SparkSession:
    """A session of the test's own: settings, temporary views and the current database are its own, too."""
    return spark_session.newSession()


@pytest.fixture
def all_jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with a jar for each Spark. `make test` builds it with that of the newest Spark only."""
    folder = tmp_path / "jars"
    folder.mkdir()
    for spark in SPARKS:
        (folder / spark.jar).touch()
    monkeypatch.setattr(artifacts, "_FOLDER", folder)
    return folder


@pytest.fixture
def database(spark: SparkSession, tmp_path: Path) -> Iterator[Path]:
    """An empty folder, for the current database, which has the same name and goes away with its tables."""
    folder = tmp_path / f"database_{os.getpid()}"
    folder.mkdir()
    spark.sql(f"CREATE DATABASE {folder.name} LOCATION '{folder}'")
    spark.sql(f"USE {folder.name}")
    yield folder
    spark.sql(f"DROP DATABASE {folder.name} CASCADE")


@pytest.fixture
def table(tmp_path: Path) -> SmallTable:
    """A folder of three files. Some files of tests have another table."""
    return SmallTable.write(tmp_path / "t", partitioned=False)


@pytest.fixture
def parted(tmp_path: Path) -> SmallTable:
    """Two partitions of three files each."""
    return SmallTable.write(tmp_path / "t", partitioned=True)


@pytest.fixture(scope="module")
def rival(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rival]:
    """A process with a session of its own, for all tests of a file."""
    process = Rival(tmp_path_factory.mktemp("rival"))
    yield process
    process.kill()


@pytest.fixture(scope="module")
def server() -> Iterator[S3Server]:
    """An S3 server, for all tests of a file."""
    with s3_server() as made:
        yield made
