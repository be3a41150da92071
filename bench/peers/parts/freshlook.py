"""Measures the check for changed files that a query skipped, and Spark's own listing of the same folders."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from peers import servers
from peers.progress import Steps
from peers.results import Check, Figure, Part
from peers.sessions import OURS, fetched, jars

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from peers.sessions import Setting

SHAPES = ((1, 10), (1, 1000), (100, 1000))
"""The number of folders, and of files in each."""
ROUNDS = 9
RATIO = 1.0
DFS_PORT, STORE_PORT = 15123, 15124
STORE_PYTHON = Path(__file__).parents[3] / "build" / "envs" / "store" / "bin" / "python"


def run(setting: Setting) -> Part:
    """Measure checks and listings in turns. The files are empty or tiny, because neither opens them."""
    part = Part("freshlook", "The check for changed files that a query skips")
    part.settings = {
        "files": "10, 1,000 and 100,000 files in 1, 1 and 100 folders; the query skips all of them",
        "listing": "Spark's listing of the same folders, for a table without a listing in the cache",
        "storage": "local disk; HDFS with one name node and S3A over moto, one Python process, on this machine",
    }
    spark = _session(setting)
    bases = {"local disk": (setting.work / "freshlook").as_uri(), "HDFS": f"hdfs://127.0.0.1:{DFS_PORT}/freshlook"}
    bases["S3A"] = "s3a://bucket"
    steps = Steps(len(bases) * len(SHAPES))
    with _dfs(setting.work), _store():
        for storage, base in bases.items():
            for folders, files in SHAPES:
                steps.next(f"{folders * files:,} files, {storage}")
                look, listing = _both(spark, base, folders, files, _make(spark, storage, base))
                _measure(part, f"{folders * files:,} files, {storage}", look, listing)
    spark.stop()
    return part


def _measure(part: Part, name: str, look: Callable[[], None], listing: Callable[[], None]) -> None:
    times: dict[str, list[float]] = {"look": [], "listing": []}
    for n in range(ROUNDS + 3):
        for key, work in (("look", look), ("listing", listing)):
            began = time.perf_counter()
            work()
            if n >= 3:
                times[key].append((time.perf_counter() - began) * 1e3)
    part.figures.append(Figure(name, "ms", times))
    ratio = statistics.median(a / b for a, b in zip(times["look"], times["listing"], strict=True))
    part.checks.append(Check(f"{name}: check / listing, median of pairs", ratio, RATIO))


def _both(
    spark: SparkSession, base: str, folders: int, files: int, make: Callable[[int, int], None]
) -> tuple[Callable[[], None], Callable[[], None]]:
    jvm: Any = spark._jvm
    make(folders, files)
    root = f"{base}/{folders}-{files}"
    path = jvm.org.apache.hadoop.fs.Path
    storage = path(root).getFileSystem(_conf(spark))
    convert = jvm.scala.jdk.javaapi.CollectionConverters
    parts = jvm.java.util.ArrayList()
    for d in range(folders):
        folder = path(f"{root}/p={d}")
        statuses, listed = jvm.java.util.ArrayList(), storage.listStatusIterator(folder)
        while listed.hasNext():
            statuses.add(listed.next())
        parts.add(jvm.org.sparkzorder.scan.LeftOut(folder, convert.asScala(statuses).toSeq(), files))
    asked = convert.asScala(parts).toSeq()
    # The function would be told of folders that cannot be looked at.
    fresh = jvm.org.sparkzorder.scan.FileRevalidation.of(spark._jsparkSession, None).get()
    session: Any = spark._jsparkSession

    def look() -> None:
        assert fresh.changed(asked).size() == 0

    def listing() -> None:
        session.read().format("text").load(root)

    return look, listing


def _make(spark: SparkSession, storage: str, base: str) -> Callable[[int, int], None]:
    """Write this number of files into this number of folders, if they are missing."""
    jvm: Any = spark._jvm
    path = jvm.org.apache.hadoop.fs.Path

    def name(folders: int, files: int, n: int) -> str:
        return f"{base}/{folders}-{files}/p={n // files}/part-{n % files:05d}.parquet"

    def on_disk(folders: int, files: int) -> None:
        for n in range(folders * files):
            file = Path(name(folders, files, n).removeprefix("file://"))
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()

    def on_hdfs(folders: int, files: int) -> None:
        there = path(base).getFileSystem(_conf(spark))

        def create(n: int) -> None:
            there.create(path(name(folders, files, n))).close()

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(create, range(folders * files)))

    def nothing(folders: int, files: int) -> None:
        """Do nothing: the server has made the files."""

    return {"local disk": on_disk, "HDFS": on_hdfs}.get(storage, nothing)


def _conf(spark: SparkSession) -> Any:
    return spark._jsparkSession.sessionState().newHadoopConf()


def _session(setting: Setting) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = (
        SparkSession.builder.master(f"local[{setting.cores}]")
        .config("spark.jars", jars(setting.jar, "hdfs"))
        .config("spark.sql.extensions", OURS)
        .config("spark.driver.memory", setting.heap)
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
    )
    for key, value in {
        "endpoint": f"http://127.0.0.1:{STORE_PORT}",
        "endpoint.region": "us-east-1",
        "path.style.access": "true",
        "access.key": "a",
        "secret.key": "b",
        "connection.ssl.enabled": "false",
    }.items():
        builder.config(f"spark.hadoop.fs.s3a.{key}", value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


@contextmanager
def _dfs(work: Path) -> Iterator[None]:
    """Run a name node and a data node in a process of their own."""
    import pyspark

    needed = [
        str(jar) for jar in fetched("hdfs") if jar.name.startswith(("hadoop-client-minicluster", "mockito", "junit"))
    ]
    folder = work / "freshlook-dfs"
    folder.mkdir(parents=True, exist_ok=True)
    command = ["java", "-cp", ":".join([*needed, f"{Path(pyspark.__file__).parent / 'jars'}/*"])]
    command += ["org.apache.hadoop.test.MiniDFSClusterManager", "-datanodes", "1", "-nnport", str(DFS_PORT), "-format"]
    with servers.running(command, folder, DFS_PORT):
        yield


@contextmanager
def _store() -> Iterator[None]:
    program = Path(servers.__file__).parent / "store.py"
    command = [str(STORE_PYTHON), str(program), str(STORE_PORT), *(f"{a}*{b}" for a, b in SHAPES)]
    with servers.running(command, program.parent, STORE_PORT):
        yield
