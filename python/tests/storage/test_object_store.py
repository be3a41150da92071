"""Tables in an object store: S3A with a server that the test starts."""

import json
import re
import threading
import urllib.parse
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import REPOSITORY
from docs_pages import statements
from s3_server import BUCKET, Request, S3Server
from spark_process import SparkProcess
from spark_versions import PYSPARK_MINOR

ROWS = 4000
ROOT = "s3a://bucket"

REQUESTS_PER_FILE = {"3.5": 25, "4.0": 25, "4.1": 17}.get(PYSPARK_MINOR, 12)
"""Of an OPTIMIZE. An older S3A asks for a file's length and its end each time that Spark opens it.

The values of older Sparks are a little above those in bench/results/requests-s3-older-2026-11-25.txt.
"""


@pytest.fixture(scope="module")
def ours(server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    with server.spark(tmp_path_factory.mktemp("ours")) as process:
        yield process


@pytest.fixture(scope="module")
def plain(server: S3Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    with server.spark(tmp_path_factory.mktemp("plain"), extension=False) as process:
        yield process


def write(spark: SparkProcess, root: str, form: str, parts: str, files: int = 4, first: int = 0) -> None:
    spark.run(
        f"spark.range({first}, {first + ROWS}).selectExpr('id', 'id % 2 AS p', 'hash(id) % 1000 AS a')"
        f".repartition({files}).write.mode('append').partitionBy(*{parts.split()!r}).format({form!r}).save({root!r})"
    )


def ids(spark: SparkProcess, root: str, form: str) -> tuple[int, int]:
    return spark.ids(f"spark.read.format({form!r}).load({root!r})")


def kept(spark: SparkProcess, root: str, form: str) -> tuple[int, int]:
    """The files that a lookup reads, of all."""
    [scan] = spark.sql(f"EXPLAIN SKIPPING SELECT * FROM {form}.`{root}` WHERE a = 5")
    return scan["files_kept"], scan["files_total"]


def left_over(spark: SparkProcess, server: S3Server, root: str) -> list[str]:
    """What no finished operation may leave."""
    names: list[str] = spark.run(f"result = files({root!r})")
    marks = ("_exchange", ".publishing", "_staging-", "_lock-", "__magic", "_tmp-", "_probe-")
    inside = root.removeprefix("s3a://bucket/")
    return [n for n in names if any(mark in n for mark in marks)] + [
        key for key in server.open_uploads() if key.startswith(inside + "/")
    ]


@pytest.mark.test_all
def test_the_walk_of_the_page_ends_at_skipped_files(ours: SparkProcess) -> None:
    ours.run(
        "spark.range(40000).selectExpr(\"date_add(DATE'2026-10-31', CAST(id % 3 AS INT)) AS day\","
        " 'pmod(hash(id), 500) AS customer', 'pmod(hash(id, 1), 9) AS kind')"
        f".repartition(4).write.partitionBy('day').parquet('{ROOT}/events')"
    )
    page = (REPOSITORY / "docs" / "object-stores.md").read_text()
    [walk] = re.findall(r"^```sql\n(.*?)^```$", page, re.M | re.S)
    found = [ours.sql(each) for each in statements(walk.replace("64MB", "4KB"))]
    assert found[0][0]["metrics"]["dryRun"]
    assert found[0][0]["metrics"]["numFilesAdded"] > 8
    [scan] = found[2]
    assert scan["files_total"] > 8
    assert scan["files_kept"] * 2 < scan["files_total"]
    assert ours.run(f"result = spark.read.parquet('{ROOT}/events').count()") == 40000


@pytest.mark.test_all
@pytest.mark.parametrize("form", ["parquet", "orc"])
@pytest.mark.parametrize(
    ("name", "parts"), [("flat", ""), ("parts", "p"), ("odd %25 ü x/a+b,c", "p")], ids=["flat", "parts", "odd keys"]
)
def test_optimize_restore_and_vacuum_keep_every_row_and_other_readers_read_them(
    server: S3Server, ours: SparkProcess, plain: SparkProcess, form: str, name: str, parts: str
) -> None:
    root = f"{ROOT}/{form}/{name}"
    write(ours, root, form, parts)
    table = f"{form}.`{root}`"
    clustered = f"OPTIMIZE {table} ZORDER BY (a) OPTIONS ('num-files' = '4')"
    ours.sql(clustered)
    one, all_ = kept(ours, root, form)
    assert one * 2 <= all_, "a lookup reads half of the files at most"
    assert ids(plain, root, form) == ids(ours, root, form) == (ROWS, ROWS)
    write(plain, root, form, parts, files=2, first=ROWS)
    for statement in [f"OPTIMIZE {table} ZORDER BY (a)", f"RESTORE {table} TO VERSION AS OF 0", clustered]:
        ours.sql(statement)
        assert ids(plain, root, form) == ids(ours, root, form) == (2 * ROWS, 2 * ROWS), statement
    # Files that RESTORE brought back, and an OPTIMIZE retired again.
    ours.sql(f"RESTORE {table} TO VERSION AS OF 1")
    assert ids(plain, root, form) == (2 * ROWS, 2 * ROWS)
    ours.sql(f"RESTORE {table} TO VERSION AS OF 4")
    history = ours.sql(f"DESCRIBE HISTORY {table}")
    assert [h["operation"] for h in history] == ["RESTORE", "RESTORE", "OPTIMIZE", "RESTORE", "OPTIMIZE", "OPTIMIZE"]
    assert all(int(h["operationMetrics"]["publishMillis"]) > 0 for h in history)
    ours.sql(f"VACUUM {table} RETAIN 0 HOURS")
    assert not [n for n in ours.run(f"result = files({root!r})") if n.endswith(".retired")]
    assert ids(plain, root, form) == ids(ours, root, form) == (2 * ROWS, 2 * ROWS)
    assert kept(ours, root, form)[0] * 2 <= kept(ours, root, form)[1]
    assert left_over(ours, server, root) == []


@pytest.mark.test_rest
def test_a_catalog_table_is_optimized_without_a_setting(ours: SparkProcess, plain: SparkProcess) -> None:
    root = f"{ROOT}/warehouse/flights"
    ours.sql(f"CREATE TABLE flights (id BIGINT, a INT, day INT) USING parquet PARTITIONED BY (day) LOCATION '{root}'")
    for day in range(3):
        ours.sql(f"INSERT INTO flights SELECT /*+ REPARTITION(3) */ id, hash(id) % 1000, {day} FROM range({ROWS})")
    ours.sql("OPTIMIZE flights WHERE day = 1 ZORDER BY (a) OPTIONS ('num-files' = '2')")
    assert ours.sql("SELECT count(*) AS n, sum(id) AS s FROM flights") == [{"n": 3 * ROWS, "s": 3 * sum(range(ROWS))}]
    metrics = ours.sql("DESCRIBE HISTORY flights")[0]["operationMetrics"]
    assert metrics["numReadBackFiles"] == metrics["numAddedFiles"] == "2", "read back before the upload was complete"
    ours.sql("INSERT OVERWRITE flights PARTITION (day = 1) SELECT id, 1 FROM range(10)")
    ours.sql("OPTIMIZE flights ZORDER BY (a) OPTIONS ('num-files' = '2')")
    assert ours.sql("SELECT count(*) AS n FROM flights") == [{"n": 2 * ROWS + 10}]
    assert ids(plain, root, "parquet")[0] == 2 * ROWS + 10


@pytest.mark.test_all
def test_optimize_and_a_select_need_few_requests(server: S3Server, tmp_path: Path, plain: SparkProcess) -> None:
    for name, parts, files in (("flat", "", 20), ("parts", "p", 8), ("large", "", 50)):
        root = f"{ROOT}/requests/{name}"
        write(plain, root, "parquet", parts, files)
        old = len([n for n in plain.run(f"result = files({root!r})") if n.endswith(".parquet")])
        # Fresh sessions: S3A keeps what it has read of small files.
        with server.spark(tmp_path / name) as fresh:
            fresh.run("spark.range(1).count()")
            server.counted()
            fresh.sql(f"OPTIMIZE parquet.`{root}` ZORDER BY (a) OPTIONS ('num-files' = '4')")
            needed = server.counted()
        assert len(needed) <= REQUESTS_PER_FILE * old + 50, (name, len(needed), Counter(r.what for r in needed))
        query = f"SELECT count(*) FROM parquet.`{root}` WHERE a = 5"
        counts = []
        for extension in (False, True):
            with server.spark(tmp_path / f"{name}-{extension}", extension=extension) as fresh:
                fresh.run("spark.range(1).count()")
                server.counted()
                fresh.sql(query)
                counts.append(len(server.counted()))
        assert counts[1] <= counts[0] + 3, f"{name}: {counts}"


def read_only(request: Request) -> tuple[int, str] | None:
    return None if request.method in ("GET", "HEAD") else (403, "AccessDenied")


LACKS = "ZORDER_UNSUPPORTED_STORAGE.LACKS_CONDITIONS"
MAGIC = "fs.s3a.committer.magic.enabled"
LACKING: dict[str, tuple[dict[str, Any], dict[str, str], str]] = {
    "If-None-Match": ({"drops": "if-none-match"}, {}, LACKS),
    "If-Match": ({"drops": "if-match"}, {}, LACKS),
    MAGIC: ({}, {f"spark.hadoop.{MAGIC}": "false"}, LACKS),
    "NO_WRITE_PERMISSION": ({"fault": read_only}, {}, "ZORDER_NO_WRITE_PERMISSION"),
}
"""By a word of the error: how requests are disturbed, the settings of the client, and the condition."""


@pytest.mark.test_all
@pytest.mark.parametrize("word", LACKING)
def test_what_a_store_lacks_is_told_at_once(server: S3Server, plain: SparkProcess, tmp_path: Path, word: str) -> None:
    disturbed, settings, condition = LACKING[word]
    root = f"{ROOT}/lacking/{word}"
    write(plain, root, "parquet", "")
    before = plain.run(f"result = files({root!r})")
    with server.disturbed(**disturbed), server.spark(tmp_path, settings=settings) as fresh:
        found, message = fresh.refused(f"OPTIMIZE parquet.`{root}` ZORDER BY (a)")
        assert ids(fresh, root, "parquet") == (ROWS, ROWS)
    assert found == condition
    assert word in f"{found} {message}"
    assert plain.run(f"result = files({root!r})") == before


@pytest.mark.test_all
def test_conditions_are_signed(server: S3Server, ours: SparkProcess) -> None:
    root = f"{ROOT}/signed"
    write(ours, root, "parquet", "")
    server.counted()
    ours.sql(f"OPTIMIZE parquet.`{root}` ZORDER BY (a)")
    conditions = ("if-match", "if-none-match", "x-amz-copy-source-if-match")
    seen = set()
    for request in server.counted():
        signed = re.findall("SignedHeaders=([^,]*)", request.headers["authorization"])[0].split(";")
        for name in request.headers.keys() & set(conditions):
            assert name in signed, request
            seen.add((request.method, name))
    wanted = {("PUT", name) for name in conditions} | {("DELETE", "if-match")}
    assert wanted <= seen


@pytest.mark.test_all
@pytest.mark.parametrize("late", [False, True], ids=["refused", "done and refused"])
def test_failing_requests_lose_no_row(server: S3Server, ours: SparkProcess, plain: SparkProcess, *, late: bool) -> None:
    root = f"{ROOT}/busy-{late}"
    write(plain, root, "parquet", "p")
    with server.disturbed(lambda request: (503, "SlowDown") if request.number % 10 == 0 else None, late=late):
        ours.sql(f"OPTIMIZE parquet.`{root}` ZORDER BY (a) OPTIONS ('num-files' = '3')")
        ours.sql(f"RESTORE parquet.`{root}` TO VERSION AS OF 0")
    assert ids(plain, root, "parquet") == ids(ours, root, "parquet") == (ROWS, ROWS)
    assert left_over(ours, server, root) == []


@pytest.mark.test_all
def test_a_versioned_bucket_works_the_same(server: S3Server, ours: SparkProcess, plain: SparkProcess) -> None:
    body = b"<VersioningConfiguration><Status>Enabled</Status></VersioningConfiguration>"
    server.ask("PUT", "/bucket?versioning", body)
    root = f"{ROOT}/versioned"
    write(ours, root, "parquet", "p")
    ours.sql(f"OPTIMIZE parquet.`{root}` ZORDER BY (a) OPTIONS ('num-files' = '2')")
    ours.sql(f"RESTORE parquet.`{root}` TO VERSION AS OF 0")
    ours.sql(f"VACUUM parquet.`{root}` RETAIN 0 HOURS")
    assert ids(plain, root, "parquet") == ids(ours, root, "parquet") == (ROWS, ROWS)
    assert left_over(ours, server, root) == []


@pytest.mark.test_all
def test_folders_of_other_formats_are_refused(server: S3Server, ours: SparkProcess) -> None:
    formats = ("_delta_log/0.json", ".hoodie/hoodie.properties", "_spark_metadata/0", "metadata/v1.metadata.json")
    # The last one is looked for in each of two folders, by one listing.
    for number, marker in enumerate((*formats, "_metadata", "p=1/_metadata")):
        condition = "ZORDER_UNSUPPORTED_TARGET.OTHER_TABLE_FORMAT"
        content = b"x"
        root = f"{ROOT}/foreign/t{number}"
        write(ours, root, "parquet", "p", files=1)
        if marker not in formats:
            # Spark reads a summary file, so it is a file of Parquet.
            data = next(k for k in server.keys(f"foreign/t{number}/") if k.endswith(".parquet"))
            condition = "ZORDER_UNSAFE_TABLE.SUMMARY_FILE"
            content = server.ask("GET", f"/{BUCKET}/{urllib.parse.quote(data)}")
        server.ask("PUT", f"/{BUCKET}/foreign/t{number}/{marker}", content)
        assert ours.refused(f"OPTIMIZE parquet.`{root}` ZORDER BY (a)")[0] == condition, marker


def copied(server: S3Server, keys: list[str], root: str, target: str) -> None:
    """Copy objects to another folder, as other programs do."""
    for key in keys:
        path = urllib.parse.quote(target + key.removeprefix(root), safe="/")
        server.ask("PUT", f"/{BUCKET}/{path}", headers={"x-amz-copy-source": f"/{BUCKET}/{urllib.parse.quote(key)}"})


@pytest.mark.test_all
def test_a_copy_that_is_made_while_an_operation_publishes_has_each_row_once_when_a_person_has_decided(
    server: S3Server, ours: SparkProcess, plain: SparkProcess
) -> None:
    write(ours, f"{ROOT}/midway/t", "parquet", "p")
    keys: list[str] = []
    sides: list[str] = []
    lock = threading.Lock()

    def copies(request: Request) -> None:
        # One listing before the first new file is there. Markers are copied later, and tell of a decision.
        with lock:
            if request.what == "complete" and not keys:
                keys.extend(server.keys("midway/t/"))
                copied(server, [k for k in keys if "/_" not in k], "midway/t/", "midway/copy/")
            if request.what == "delete" and request.key.endswith(".parquet") and not sides:
                sides.extend(k for k in keys if "/_" in k)
                copied(server, sides, "midway/t/", "midway/copy/")

    with server.disturbed(copies):
        ours.sql(f"OPTIMIZE parquet.`{ROOT}/midway/t` ZORDER BY (a)")
    assert [k for k in sides if k.endswith(".publishing")]
    copy = f"{ROOT}/midway/copy"
    assert ours.refused(f"OPTIMIZE parquet.`{copy}` ZORDER BY (a)")[0] == "ZORDER_TABLE_UNCLEAR.RECOVERY"
    done = ours.run(
        "settings = spark._jsparkSession.sessionState().newHadoopConf()\n"
        f"result = spark._jvm.org.sparkzorder.tool.TableTool.run('recover', '{copy}', 60, 'old', settings)"
    )
    assert json.loads(done)["exitCode"] == 0, done
    assert ids(ours, copy, "parquet") == ids(plain, copy, "parquet") == (ROWS, ROWS)
    ours.sql(f"OPTIMIZE parquet.`{copy}` ZORDER BY (a)")
    assert ids(ours, copy, "parquet") == ids(plain, copy, "parquet") == (ROWS, ROWS)
    # An operation that was undone is no gap in the history.
    ours.sql(f"RESTORE parquet.`{copy}` TO VERSION AS OF 0")
    assert ids(ours, copy, "parquet") == ids(plain, copy, "parquet") == (ROWS, ROWS)
    assert left_over(ours, server, copy) == []
    assert ids(ours, f"{ROOT}/midway/t", "parquet") == (ROWS, ROWS)
