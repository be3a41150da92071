"""Tables that move to new folders: a real Hive metastore, shared by Sparks with and without us."""

import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import steps
from metastore_server import metastore
from spark_process import SparkProcess

ROWS = 2000
STEPS = [
    pytest.param("after-manifest", marks=pytest.mark.test_all),
    pytest.param("after-stage-folders", marks=pytest.mark.test_all),
    pytest.param("after-sentinels", marks=pytest.mark.test_all),
    pytest.param("before-commit-point", marks=pytest.mark.test_all),
    "after-commit-point",
]


@pytest.fixture(scope="module")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with metastore(tmp_path_factory.mktemp("metastore")) as made:
        yield {**made, "spark.sql.shuffle.partitions": "2", "spark.zorder.progress.enabled": "false"}


@pytest.fixture(scope="module")
def ours(settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    with SparkProcess(tmp_path_factory.mktemp("ours"), settings) as process:
        yield process


@pytest.fixture(scope="module")
def plain(settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    with SparkProcess(tmp_path_factory.mktemp("plain"), settings, extension=False) as process:
        yield process


def make(spark: SparkProcess, name: str, root: Path, kind: str, form: str = "parquet") -> None:
    """A table over a folder: `flat`, `parts` or `hive`, which has partitions and is one of Hive's."""
    columns = {
        "flat": f"(id BIGINT, a INT) USING {form}",
        "parts": f"(id BIGINT, a INT, p STRING) USING {form} PARTITIONED BY (p)",
        "hive": f"(id BIGINT, a INT) PARTITIONED BY (p STRING) STORED AS {form}",
    }[kind]
    part = "" if kind == "flat" else ", concat('ü %', id % 3)"
    spark.run("spark.conf.set('hive.exec.dynamic.partition.mode', 'nonstrict')")
    spark.sql(f"CREATE TABLE {name} {columns} LOCATION '{root}'")
    spark.sql(
        f"INSERT INTO {name} SELECT /*+ REPARTITION(4) */ id, CAST(abs(hash(id)) % 100 AS INT){part} FROM range({ROWS})"
    )


def ids(spark: SparkProcess, name: str) -> tuple[int, int]:
    spark.sql(f"REFRESH TABLE {name}")
    return seen(spark, name)


def seen(spark: SparkProcess, name: str) -> tuple[int, int]:
    """The same without a refresh."""
    return spark.ids(f"spark.table({name!r})")


def locations(spark: SparkProcess, name: str) -> list[str]:
    found: list[str] = spark.run(
        f"table = spark._jsparkSession.sessionState().catalog()\n"
        f"parts = [r[0] for r in spark.sql('SHOW PARTITIONS {name}').collect()] if {name!r}.startswith('p') else []\n"
        "def location(where):\n"
        f"    rows = spark.sql('DESCRIBE EXTENDED {name} ' + where).collect()\n"
        "    return [r[1] for r in rows if r[0] == 'Location'][0]\n"
        "spec = lambda p: 'PARTITION (p = ' + repr(p.split('=', 1)[1]) + ')'\n"
        "from urllib.parse import unquote\n"
        "result = [location(spec(unquote(p))) for p in parts] or [location('')]"
    )
    return found


@pytest.mark.test_rest
@pytest.mark.parametrize("kind", ["parts", *(pytest.param(k, marks=pytest.mark.test_all) for k in ("flat", "hive"))])
def test_plain_readers_count_right(ours: SparkProcess, plain: SparkProcess, tmp_path: Path, kind: str) -> None:
    name, root, stop = f"p_{kind}", tmp_path / "a b", tmp_path / "stop"
    make(plain, name, root, kind)
    plain.send(
        "from pathlib import Path\ncounts = set()\n"
        f"while not Path({str(stop)!r}).exists():\n"
        f"    spark.sql('REFRESH TABLE {name}')\n"
        f"    counts.add(spark.table({name!r}).count())\n"
        "result = sorted(counts)"
    )
    try:
        for column in ("a", "id", "a"):
            ours.sql(
                f"OPTIMIZE {name} FULL ZORDER BY ({column}) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '6')"
            )
        ours.sql(f"RESTORE {name} TO VERSION AS OF 1")
        ours.sql(f"RESTORE {name} TO VERSION AS OF 0")
        ours.sql(f"RESTORE {name} TO VERSION AS OF 3")
    finally:
        stop.touch()
    assert plain._receive() == [ROWS]
    assert ids(plain, name) == seen(ours, name) == (ROWS, ROWS)
    [explained] = ours.sql(f"EXPLAIN SKIPPING SELECT * FROM {name} WHERE a = 5")
    assert explained["files_kept"] < explained["files_total"]
    history = ours.sql(f"DESCRIBE HISTORY {name}")
    assert [row["operationParameters"]["commit.mode"] for row in history] == ["new-location"] * 6
    assert all("publishMillis" in row["operationMetrics"] for row in history)

    ours.sql(f"VACUUM {name} RETAIN 0 HOURS")
    assert not [n for n in root.rglob("*.parquet") if "_zorder" not in n.parts]
    assert ids(plain, name) == seen(ours, name) == (ROWS, ROWS)


@pytest.mark.test_rest
def test_rows_of_a_stale_session_are_copied_forward(ours: SparkProcess, plain: SparkProcess, tmp_path: Path) -> None:
    root = tmp_path / "t"
    make(plain, "stale", root, "flat")
    assert seen(plain, "stale") == (ROWS, ROWS)
    ours.sql("OPTIMIZE stale ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '8')")
    # This session has looked up the table before.
    plain.sql("INSERT INTO stale VALUES (90001, 5)")
    plain.run(f"spark.createDataFrame([(90002, 5)], 'id BIGINT, a INT').write.mode('append').parquet({str(root)!r})")
    # A query reads the location that the catalog names, like every other reader.
    assert seen(ours, "stale") == (ROWS, ROWS)
    [stale] = [row["stale_appends"] for row in ours.sql("SHOW CLUSTERING") if "stale" in row["table"]]
    assert stale >= 2

    ours.sql("OPTIMIZE stale")
    assert ids(plain, "stale") == seen(ours, "stale") == (ROWS + 2, ROWS + 2)
    late = ours.sql("SELECT id FROM stale WHERE a = 5 AND id > 90000 ORDER BY id")
    assert [row["id"] for row in late] == [90001, 90002]
    assert [row["stale_appends"] for row in ours.sql("SHOW CLUSTERING") if "stale" in row["table"]] == [0]
    ours.sql("RESTORE stale TO VERSION AS OF 0")
    assert ids(plain, "stale") == seen(ours, "stale") == (ROWS + 2, ROWS + 2)
    ours.sql("VACUUM stale RETAIN 0 HOURS")
    assert ids(plain, "stale") == seen(ours, "stale") == (ROWS + 2, ROWS + 2)


@pytest.mark.test_rest
def test_a_stale_session_reads_the_present_folder(ours: SparkProcess, settings: dict[str, str], tmp_path: Path) -> None:
    make(ours, "moved", tmp_path / "t", "flat")
    with SparkProcess(tmp_path / "other", settings) as other:
        other.run("held = spark.table('moved')")
        assert seen(other, "moved") == (ROWS, ROWS)
        ours.sql("OPTIMIZE moved ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '4')")
        ours.sql("INSERT INTO moved VALUES (90001, 5)")
        ours.sql("VACUUM moved RETAIN 0 HOURS")
        assert seen(other, "moved") == (ROWS + 1, ROWS + 1)
        assert other.run("result = held.count()") == ROWS + 1


@pytest.mark.test_all
def test_changed_partitions_have_their_own_rows(ours: SparkProcess, plain: SparkProcess, tmp_path: Path) -> None:
    options = "'commit.mode' = 'new-location', 'num-files' = '3', 'rewrite-all' = 'true'"
    optimize = f"OPTIMIZE p_names ZORDER BY (a) OPTIONS ({options})"
    make(ours, "p_names", tmp_path / "t", "parts")
    third = len(range(1, ROWS, 3))
    ours.sql(optimize)
    ours.sql("ALTER TABLE p_names PARTITION (p = 'ü %1') RENAME TO PARTITION (p = 'renamed')")
    # Spark puts the new partition into the folder that the other one has left, with its files.
    moved = list((tmp_path / "t" / "p=ü %251").glob("*.parquet"))
    ours.sql("INSERT INTO p_names VALUES (90001, 5, 'ü %1')")
    assert ids(plain, "p_names") == (ROWS + third + 1, ROWS + 1)
    condition, message = ours.refused(optimize)
    assert condition == "ZORDER_TABLE_UNCLEAR.LOCATION_SET_BACK"
    assert "The catalog names that one, too. Remove what had moved (" in message
    assert all(file.name in message for file in moved)
    for file in moved:
        file.unlink()
    ours.sql("REFRESH TABLE p_names")
    counts = "SELECT p, count(*) AS n, count(DISTINCT id) AS d FROM p_names GROUP BY p"
    for _ in range(2):
        found = {row["p"]: (row["n"], row["d"]) for row in ours.sql(counts)}
        plain.sql("REFRESH TABLE p_names")
        assert found == {row["p"]: (row["n"], row["d"]) for row in plain.sql(counts)}
        assert found["renamed"] == (third, third)
        assert found["ü %1"] == (1, 1)
        ours.sql(optimize)
    ours.sql("VACUUM p_names RETAIN 0 HOURS")
    assert ids(plain, "p_names") == (ROWS + 1, ROWS + 1)
    # A partition is dropped and loaded anew after a VACUUM: only a person knows whether its old rows count.
    [old] = [p for p in (tmp_path / "t__zorder").glob("v*/p=ü %252") if list(p.glob("*.parquet"))]
    ours.sql("ALTER TABLE p_names DROP PARTITION (p = 'ü %2')")
    ours.sql("INSERT INTO p_names VALUES (90002, 5, 'ü %2')")
    condition, message = ours.refused(optimize)
    assert condition == "ZORDER_TABLE_UNCLEAR.LOCATION_SET_BACK"
    assert str(old) in message
    shutil.rmtree(old)
    ours.sql(optimize)
    assert ours.sql("SELECT id FROM p_names WHERE p = 'ü %2'") == [{"id": 90002}]


@pytest.mark.test_rest
def test_an_overwrite_begins_a_new_history(ours: SparkProcess, plain: SparkProcess, tmp_path: Path) -> None:
    root = tmp_path / "t"
    make(ours, "p_whole", root, "parts")
    optimize = "OPTIMIZE p_whole ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '3')"
    ours.sql(optimize)
    plain.sql("INSERT OVERWRITE p_whole SELECT id, 1, concat('ü %', id % 3) FROM range(30)")
    assert not (root / "_zorder").exists()
    assert ids(ours, "p_whole") == (30, 30)
    for _ in range(2):
        ours.sql(optimize.replace("ZORDER BY", "FULL ZORDER BY"))
        assert ids(plain, "p_whole") == ids(ours, "p_whole") == (30, 30)
    ours.sql("VACUUM p_whole RETAIN 0 HOURS")
    assert ids(plain, "p_whole") == ids(ours, "p_whole") == (30, 30)


@pytest.mark.test_rest
def test_a_second_table_over_the_folder_is_noticed_through_a_link(ours: SparkProcess, tmp_path: Path) -> None:
    make(ours, "p_linked", tmp_path / "t", "parts")
    (tmp_path / "link").symlink_to(tmp_path / "t")
    ours.sql(f"CREATE TABLE beside (id BIGINT, a INT) USING parquet LOCATION '{tmp_path / 'link' / 'p=ü %251'}'")
    condition, message = ours.refused("OPTIMIZE p_linked ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location')")
    assert condition == "ZORDER_UNSUPPORTED_COMMIT_MODE.SHARED_LOCATION"
    assert "beside" in message
    ours.sql("DROP TABLE beside")


@pytest.mark.test_rest
def test_a_location_that_leads_back_through_a_link_is_refused(ours: SparkProcess, tmp_path: Path) -> None:
    (tmp_path / "other").symlink_to(tmp_path)
    for name, made, back in (("by_real", tmp_path, tmp_path / "other"), ("by_link", tmp_path / "other", tmp_path)):
        make(ours, name, made / name, "flat")
        optimize = f"OPTIMIZE {name} ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '3')"
        ours.sql(optimize)
        ours.sql(f"INSERT INTO {name} VALUES (90001, 5)")
        [now] = locations(ours, name)
        ours.sql(f"ALTER TABLE {name} SET LOCATION '{back / name}'")
        for statement in (optimize, f"VACUUM {name} RETAIN 0 HOURS"):
            condition, message = ours.refused(statement)
            assert condition == "ZORDER_TABLE_UNCLEAR.LOCATION_SET_BACK", statement
            assert f"SET LOCATION '{now.removeprefix('file:')}'" in message
        ours.sql(f"ALTER TABLE {name} SET LOCATION '{now}'")
        ours.sql(optimize)
        assert ids(ours, name) == (ROWS + 1, ROWS + 1)


@pytest.mark.test_rest
def test_a_cached_table_stays_cached(ours: SparkProcess, tmp_path: Path) -> None:
    make(ours, "cached", tmp_path / "t", "flat")
    ours.sql("CACHE TABLE cached OPTIONS ('storageLevel' 'MEMORY_ONLY')")
    entries = "result = spark._jsparkSession.sharedState().cacheManager().numCachedEntries()"
    level = "result = str(spark.table('cached').storageLevel)"
    before = ours.run(entries), ours.run(level)
    for statement in [
        "OPTIMIZE cached ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '3')",
        "INSERT INTO cached VALUES (90001, 5)",
        "RESTORE cached TO VERSION AS OF 0",
    ]:
        ours.sql(statement)
        assert (ours.run(entries), ours.run(level)) == before, statement
        plan = ours.run("result = spark.table('cached')._jdf.queryExecution().withCachedData().toString()")
        assert "InMemoryRelation" in plan, statement
    assert seen(ours, "cached") == (ROWS + 1, ROWS + 1)
    ours.sql("UNCACHE TABLE cached")
    assert ours.run(entries) == before[0] - 1


@pytest.mark.test_rest
def test_a_folder_that_is_read_by_its_path_has_the_files_that_are_in_it(ours: SparkProcess, tmp_path: Path) -> None:
    make(ours, "by_path", tmp_path / "t", "flat")
    optimize = "OPTIMIZE by_path ZORDER BY ({}) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '3')"
    ours.sql(optimize.format("a"))
    ours.sql("INSERT INTO by_path VALUES (90001, 5)")
    [first] = locations(ours, "by_path")
    ours.sql(optimize.format("id"))
    ours.sql("INSERT INTO by_path VALUES (90002, 5)")
    count = "result = spark.read.parquet(*{!r}).count()"
    assert ours.run(count.format([str(tmp_path / "t")])) == ROWS
    assert ours.run(count.format([first])) == ROWS + 1
    assert ours.run(count.format([str(tmp_path / "t"), first])) == 2 * ROWS + 1
    assert ids(ours, "by_path") == (ROWS + 2, ROWS + 2)


@pytest.mark.test_rest
@pytest.mark.parametrize("place", STEPS)
def test_a_process_that_dies_while_it_publishes_loses_and_doubles_no_row(
    ours: SparkProcess, plain: SparkProcess, settings: dict[str, str], tmp_path: Path, place: str
) -> None:
    name = "p_" + place.replace("-", "_")
    make(plain, name, tmp_path / "t", "parts")
    assert seen(plain, name) == (ROWS, ROWS)
    dying = SparkProcess(
        tmp_path / "dying", settings, environment=steps.environment(steps.step(place, steps=steps.BY_CATALOG))
    )
    # Its JVM halts there.
    with pytest.raises(AssertionError):
        dying.sql(f"OPTIMIZE {name} ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '6')")
    dying.kill()
    plain.sql(f"INSERT INTO {name} VALUES (90001, 5, 'ü %1')")
    assert seen(ours, name) == (ROWS + 1, ROWS + 1)
    ours.sql(f"OPTIMIZE {name} FULL ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '6')")
    assert ids(plain, name) == seen(ours, name) == (ROWS + 1, ROWS + 1)
    side = [p.name for p in (tmp_path / "t" / "_zorder").iterdir()]
    assert not [n for n in side if n.startswith(("_staging-", "_lock-", "_tmp-")) or n.endswith(".moving")]


@pytest.mark.test_rest
def test_other_modes_paths_and_streams_are_refused(ours: SparkProcess, tmp_path: Path) -> None:
    by_catalog = "ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location')"
    make(ours, "first", tmp_path / "t", "flat")
    ours.sql("OPTIMIZE first ZORDER BY (a) OPTIONS ('num-files' = '3')")
    condition, message = ours.refused(f"OPTIMIZE first FULL {by_catalog}")
    assert condition == "ZORDER_UNSUPPORTED_COMMIT_MODE.OTHER_MODE"
    assert "VACUUM" in message
    ours.sql("VACUUM first RETAIN 0 HOURS")
    ours.sql(f"OPTIMIZE first FULL {by_catalog}")
    for folder in (str(tmp_path / "t"), *[p.removeprefix("file:") for p in locations(ours, "first")]):
        for statement in ("OPTIMIZE parquet.`{}` FULL ZORDER BY (a)", "VACUUM parquet.`{}`"):
            assert ours.refused(statement.format(folder))[0] == "ZORDER_UNSUPPORTED_COMMIT_MODE.PATH"
    assert seen(ours, "first") == (ROWS, ROWS)
    stream = f"spark.readStream.schema('id BIGINT, a INT').parquet({str(tmp_path / 't')!r})"
    refused = ours.run(
        f"try:\n    query = {stream}.writeStream.format('memory').queryName('s')"
        f".option('checkpointLocation', {str(tmp_path / 'c')!r}).trigger(availableNow=True).start()\n"
        "    query.awaitTermination()\n    result = ''\nexcept Exception as error:\n    result = str(error)"
    )
    assert "ZORDER_UNSUPPORTED_COMMIT_MODE.STREAM" in refused


@pytest.mark.test_rest
def test_new_folders_have_the_rights_of_the_old_ones(ours: SparkProcess, tmp_path: Path) -> None:
    root = tmp_path / "t"
    make(ours, "rights", root, "flat")
    root.chmod(0o750)
    ours.sql("OPTIMIZE rights ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '2')")
    made = Path(locations(ours, "rights")[0].removeprefix("file:"))
    assert [oct(p.stat().st_mode & 0o777) for p in (made, made.parent)] == ["0o750"] * 2
    assert not list(made.rglob("*.crc"))


@pytest.mark.test_all
@pytest.mark.parametrize("form", ["parquet", "orc"])
@pytest.mark.parametrize("kind", ["flat", "parts", "hive"])
def test_random_statements_with_stale_writers_keep_each_row_once(
    ours: SparkProcess, plain: SparkProcess, tmp_path: Path, kind: str, form: str
) -> None:
    chance = random.Random(f"{kind} {form}")
    name = f"p_random_{kind}_{form}"
    make(plain, name, tmp_path / "t", kind, form)
    part = "" if kind == "flat" else ", 'ü %1'"
    rows, version = ROWS, 0
    for step in range(12):
        statement = chance.choice(["OPTIMIZE", "RESTORE", "VACUUM", "OPTIMIZE FULL"])
        if statement.startswith("OPTIMIZE"):
            full = "FULL " if "FULL" in statement or version == 0 else ""
            ours.sql(f"OPTIMIZE {name} {full}ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '6')")
        elif statement == "RESTORE" and version:
            to = chance.randrange(version + 1)
            found = ours.run(
                f"result = 'restored'\ntry:\n    spark.sql('RESTORE {name} TO VERSION AS OF {to}').collect()\n"
                "except Exception as error:\n    result = str(error)"
            )
            assert found == "restored" or "ZORDER_CANNOT_RESTORE.FILES_GONE" in found or "FORGOTTEN" in found
        elif version:
            ours.sql(f"VACUUM {name} RETAIN {chance.choice([0, 1])} HOURS")
        if statement.startswith("OPTIMIZE") or version:
            # Whatever was appended to an earlier folder was copied forward.
            assert seen(ours, name) == (rows, rows), (step, statement)
        # Without a refresh, so it may still have the first folder.
        chance.choice([plain, ours]).sql(f"INSERT INTO {name} VALUES ({90000 + step}, 5{part})")
        rows += 1
        found = seen(ours, name)
        assert found in ((rows, rows), (rows - 1, rows - 1)), (step, statement)
        history = ours.sql(f"DESCRIBE HISTORY {name}")
        version = max((row["version"] for row in history), default=0)
    ours.sql(f"OPTIMIZE {name} FULL ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location')")
    assert ids(plain, name) == seen(ours, name) == (rows, rows)
