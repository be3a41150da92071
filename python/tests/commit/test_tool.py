"""`python -m spark_zorder status`, `recover`, `unlock` and `uninstall` on tables that processes really died on."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from logs import logged
from pyspark.errors import SparkRuntimeException
from pyspark.sql import SparkSession
from rival import Rival
from small_tables import SmallTable, once, write_file

from spark_zorder._cli import tool
from spark_zorder._cli.main import main
from spark_zorder.errors import ToolError

pytestmark = pytest.mark.test_all

DIED = {"after-lock": 1, "after-staging-all": 2, "reveal-1": 3, "retire-1": 12, "after-record-done": 1}
"""Where the processes died, and on how many tables: twice before the commit point, twice after it, and at the end."""


def asked(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command line in a process of its own, without a session."""
    command = [sys.executable, "-m", "spark_zorder", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, env=os.environ | environment, stdin=subprocess.DEVNULL
    )


def answer(*arguments: str | Path) -> dict[str, Any]:
    """The JSON of a command. It contains the exit code."""
    done = asked(*arguments, "--json")
    found = dict(json.loads(done.stdout))
    assert found["exitCode"] == done.returncode, done
    return found


def everything(root: Path) -> dict[str, tuple[int, int]]:
    """All files and folders with length and time."""
    return {str(p.relative_to(root)): (p.stat().st_size, p.stat().st_mtime_ns) for p in root.rglob("*") if p.is_file()}


@dataclass
class Scene:
    """Tables that processes died on, the status while one lived, and an intact table."""

    base: Path
    dead: dict[str, list[SmallTable]] = field(default_factory=dict)
    living: dict[str, dict[str, Any]] = field(default_factory=dict)
    untouched: bool = False
    forced: subprocess.CompletedProcess[str] | None = None
    forced_error: str | None = None
    forced_table: SmallTable | None = None

    def take(self, place: str) -> SmallTable:
        """A table for one test, on which a process died there."""
        return self.dead[place].pop()

    def whole(self, to: Path) -> SmallTable:
        shutil.copytree(self.base / "whole", to / "t")
        return SmallTable(to / "t", partitioned=True)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Scene:
    base = tmp_path_factory.mktemp("tool")
    scene = Scene(base)
    rival = Rival(base / "rival")
    try:
        tables = {name: SmallTable.write(base / name, partitioned=True) for name in ("alive", "forced", "whole")}
        rival.run(tables["whole"].optimize).rows()
        for place, number in DIED.items():
            scene.dead[place] = [SmallTable.write(base / f"{place}-{n}", partitioned=True) for n in range(number)]
            for table in scene.dead[place]:
                rival.pause(table.optimize, place)
        rival.pause(tables["alive"].optimize, "retire-1")
        alive = base / "alive"
        scene.living["status"] = answer("status", alive)
        # All is equal, except for the heartbeat.
        before = {k: v for k, v in everything(alive).items() if "_lock-" not in k}
        scene.living["recover"] = answer("recover", alive)
        scene.living["unlock"] = answer("unlock", alive)
        scene.living["uninstall"] = answer("uninstall", alive, "--yes")
        scene.untouched = before == {k: v for k, v in everything(alive).items() if "_lock-" not in k}
        forced = rival.pause(tables["forced"].optimize, "retire-1")
        scene.forced = asked("unlock", base / "forced", "--force")
        scene.forced_table = tables["forced"]
        scene.forced_error = forced.error()
    finally:
        rival.kill()
    return scene


def test_status_of_a_half_published_table_says_what_is_half_done_and_changes_nothing(scene: Scene) -> None:
    table = scene.take("retire-1")
    before = everything(table.root)
    found = answer("status", table.root)
    assert found["exitCode"] == 0
    assert (found["state"], found["version"], found["operations"]) == ("unfinished", 0, 0)
    [lock] = found["locks"]
    assert (lock["state"], lock["operation"], lock["onThisHost"]) == ("dead", "OPTIMIZE", False)
    [operation] = found["unfinished"]
    assert (operation["state"], operation["version"], operation["recovery"]) == ("publishing", 1, "finishes it")
    assert operation["inputs"] == 6
    assert operation["outputs"] == 4
    assert operation["retired"] >= 1
    assert operation["missing"] == 0
    text = asked("status", table.root)
    assert text.returncode == 0
    assert f"unfinished: run `spark-zorder recover {table.root}`" in text.stdout
    assert f"{operation['retired']} of 6 inputs are in the trash" in text.stdout
    # No file that a person could take for rubbish.
    assert found["trash"] == found["otherTrash"] == []
    assert operation["retiredBytes"] == sum(f.stat().st_size for f in table.root.rglob("*.retired"))
    assert everything(table.root) == before


@pytest.mark.parametrize("died", DIED)
def test_recover_finishes_what_a_killed_process_left(scene: Scene, died: str) -> None:
    table = scene.take(died)
    done = answer("recover", table.root)
    assert done["exitCode"] == 0
    assert done["actions"]
    versions = 1 if list(DIED).index(died) >= 2 else 0
    assert table.plain_ids() == once(table.ids)
    assert len(table.files()) == (4 if versions else 6)
    assert table.leftovers(versions) == []
    assert answer("recover", table.root)["actions"] == []
    assert answer("status", table.root)["state"] == "quiet"


def test_a_folder_that_somebody_loads_anew_needs_no_choice(spark: SparkSession, scene: Scene) -> None:
    table = scene.take("retire-1")
    # A person repairs the partition: deletes its visible files, and loads it again.
    [half] = {f.parents[3] for f in table.root.rglob("*.retired")}
    part = set(range(60)) if half.name == "p=1" else set(range(60, 120))
    for file in half.glob("*.parquet"):
        file.unlink()
    loaded = write_file(half / "loaded.parquet", range(1000, 1060))
    assert answer("recover", table.root)["exitCode"] == 0
    assert table.plain_ids() == once(table.ids - part | loaded)
    assert table.spark_ids(spark) == table.plain_ids()
    assert answer("status", table.root)["state"] == "quiet"


@pytest.mark.parametrize("comes_back", [True, False])
def test_a_folder_that_is_away_needs_one(spark: SparkSession, scene: Scene, tmp_path: Path, comes_back: bool) -> None:
    table = scene.take("retire-1")
    folder = table.folders[1]
    folder.rename(tmp_path / "away")
    refused = answer("recover", table.root)
    assert (refused["exitCode"], refused["error"]) == (1, "UNCLEAR")
    assert "The folder `p=2` is gone, in which files of 60 rows were being exchanged" in refused["message"]
    with pytest.raises(SparkRuntimeException, match="The folder `p=2` is gone") as error:
        spark.sql(table.optimize).collect()
    assert error.value.getCondition() == "ZORDER_TABLE_UNCLEAR.RECOVERY"
    assert error.value.getSqlState() == "55000"
    assert (error.value.getMessageParameters() or {})["path"] == str(table.root)
    # A query does not wait for the choice, and the other partition is settled.
    assert table.spark_ids(spark) == table.plain_ids() == once(range(60))
    [operation] = answer("status", table.root)["unfinished"]
    assert operation["recovery"] == "needs a choice"
    if comes_back:
        (tmp_path / "away").rename(folder)
    done = answer("recover", table.root, *([] if comes_back else ["--keep", "new"]))
    assert done["exitCode"] == 0, done
    assert table.spark_ids(spark) == table.plain_ids() == once(range(120 if comes_back else 60))
    assert table.leftovers(1) == []
    assert answer("status", table.root)["state"] == "quiet"


@pytest.mark.parametrize("keep", ["old", "new"])
def test_a_copy_made_midway_has_each_row_once(spark: SparkSession, scene: Scene, tmp_path: Path, keep: str) -> None:
    first = scene.take("reveal-1" if keep == "old" else "retire-1")
    for copy_file in (shutil.copyfile, shutil.copy2):
        copy = SmallTable(tmp_path / copy_file.__name__, partitioned=True)
        # As `cp -r` does, without the time stamps, and as `cp -a`.
        shutil.copytree(first.root, copy.root, copy_function=copy_file)
        # The lock of the dead owner goes.
        before = {k: v for k, v in everything(copy.root).items() if "_lock-" not in k}
        refused = answer("recover", copy.root)
        assert (refused["exitCode"], refused["error"]) == (1, "UNCLEAR")
        assert f"copied or moved from file:{first.root}: the folder `p=1` has 3 of 3 old files" in refused["message"]
        for statement in (f"SELECT * FROM {copy.source}", copy.optimize):
            with pytest.raises(SparkRuntimeException, match="--keep old` or `--keep new") as error:
                spark.sql(statement).collect()
            assert error.value.getCondition() == "ZORDER_TABLE_UNCLEAR.RECOVERY"
        [operation] = answer("status", copy.root)["unfinished"]
        assert operation["recovery"] == "needs a choice"
        assert before == everything(copy.root)
        assert answer("recover", copy.root, "--keep", keep)["exitCode"] == 0
        assert copy.spark_ids(spark) == copy.plain_ids() == once(copy.ids)
        assert copy.leftovers(1 if keep == "new" else 0) == []
        assert answer("status", copy.root)["state"] == "quiet"


def test_a_living_owner_is_left_alone_and_the_exit_code_says_so(scene: Scene) -> None:
    exits = {name: found["exitCode"] for name, found in scene.living.items()}
    assert exits == {"status": 0, "recover": 3, "unlock": 3, "uninstall": 3}
    assert scene.living["status"]["state"] == "locked"
    [lock] = scene.living["status"]["locks"]
    assert (lock["state"], lock["onThisHost"]) == ("alive", True)
    assert str(lock["pid"]) in scene.living["recover"]["message"]
    assert scene.untouched


def test_a_forced_unlock_beside_a_living_owner_loses_no_row(scene: Scene) -> None:
    assert scene.forced is not None
    assert scene.forced.returncode == 0, scene.forced.stderr
    assert "is in this host's process table" in scene.forced.stderr
    # Another process has ended the statement as it would have done.
    assert scene.forced_error is None
    assert scene.forced_table is not None
    assert scene.forced_table.plain_ids() == once(scene.forced_table.ids)
    assert scene.forced_table.leftovers(1) == []


def test_unlock_removes_a_dead_owners_lock_and_recovers(scene: Scene, tmp_path: Path) -> None:
    table = scene.take("reveal-1")
    done = answer("unlock", table.root)
    assert done["exitCode"] == 0
    assert [lock["state"] for lock in done["removed"]] == ["dead"]
    assert any("finished version 1" in action for action in done["actions"])
    assert table.plain_ids() == once(table.ids)
    assert answer("unlock", table.root)["removed"] == []


def test_an_owner_on_another_host_is_known_by_its_heartbeat(scene: Scene, tmp_path: Path) -> None:
    table = scene.take("retire-1")
    [lock] = (table.root / "_zorder").glob("_lock-*")
    lock.write_text(json.dumps(json.loads(lock.read_text()) | {"host": "elsewhere"}))
    assert answer("status", table.root)["locks"][0]["state"] == "alive"
    assert answer("unlock", table.root)["exitCode"] == 3
    os.utime(lock, (lock.stat().st_mtime - 120,) * 2)
    assert answer("status", table.root)["locks"][0]["state"] == "silent"
    assert answer("unlock", table.root)["exitCode"] == 0
    assert table.plain_ids() == once(table.ids)
    assert not lock.exists()


def test_uninstall_removes_all_but_the_data_after_it_was_told_to(scene: Scene, tmp_path: Path) -> None:
    table = scene.whole(tmp_path)
    before = everything(table.root)
    files = table.files()
    refused = asked("uninstall", table.root)
    assert refused.returncode == 2
    assert "6 files" in refused.stdout
    assert "RESTORE cannot go back to any version" in refused.stdout
    dry = asked("uninstall", table.root, "--dry-run")
    assert dry.returncode == 0
    assert everything(table.root) == before
    done = answer("uninstall", table.root, "--yes")
    assert (done["exitCode"], done["removedFiles"], done["removedRecords"], done["left"]) == (0, 6, 1, [])
    assert done["found"]["trashFiles"] == 6
    assert not [p for p in table.root.rglob("*") if "_zorder" in p.parts]
    assert set(table.root.rglob("*.parquet")) == set(files)
    assert table.plain_ids() == once(table.ids)
    assert answer("uninstall", table.root, "--yes")["removedRecords"] == 0


def test_uninstall_refuses_what_is_half_done(scene: Scene, tmp_path: Path) -> None:
    table = scene.take("retire-1")
    before = everything(table.root)
    for how in ("--yes", "--dry-run"):
        done = answer("uninstall", table.root, how)
        assert (done["exitCode"], done["error"]) == (1, "UNFINISHED")
    assert "`recover`" in done["message"]
    assert everything(table.root) == before
    answer("recover", table.root)
    assert answer("uninstall", table.root, "--yes")["exitCode"] == 0
    assert table.plain_ids() == once(table.ids)


def test_what_cannot_be_run_says_why(tmp_path: Path) -> None:
    missing = answer("status", tmp_path / "missing")
    assert missing["exitCode"] == 1
    assert "There is no folder" in missing["message"]
    assert asked("status").returncode == 2
    assert asked("conquer", tmp_path).returncode == 2
    no_java = asked("status", tmp_path, PATH="", JAVA_HOME="")
    assert no_java.returncode == 1
    assert "install Java 17, or set JAVA_HOME" in no_java.stderr
    no_spark = asked("status", tmp_path, SPARK_HOME=str(tmp_path))
    assert no_spark.returncode == 1
    assert "there are no jars of Spark in" in no_spark.stderr


def test_a_side_folder_tells_people_what_it_is(scene: Scene, tmp_path: Path) -> None:
    for table in (scene.take("retire-1"), scene.whole(tmp_path)):
        [page] = table.root.rglob("_README.txt")
        assert page.parent == table.root / "_zorder"
        assert "ONLY COPY OF ROWS" in page.read_text()
    # No files of an operation that was rolled back remain.
    table = scene.take("after-staging-all")
    answer("recover", table.root)
    assert not (table.root / "_zorder").exists()


@pytest.mark.parametrize("path", ["/x/t", "file:/x/t", "file:///x/t", "FILE:///x/t"])
def test_local_paths_need_no_session(path: str) -> None:
    assert tool.local_path(path) == "/x/t"


@pytest.mark.parametrize("path", ["hdfs://namenode/x/t", "s3a://bucket/t"])
def test_other_paths_need_one(path: str) -> None:
    assert tool.local_path(path) is None


def test_a_session_does_the_same_elsewhere(
    spark: SparkSession,
    scene: Scene,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Then the session's file system handles every path.
    monkeypatch.setattr(tool, "local_path", lambda _: None)
    table = scene.take("retire-1")
    uri = table.root.as_uri()
    assert main(["status", uri]) == 0
    assert "unfinished: run" in capsys.readouterr().out
    assert main(["recover", uri, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["actions"]
    assert table.spark_ids(spark) == once(table.ids)
    assert main(["uninstall", uri, "--yes"]) == 0
    assert not (table.root / "_zorder").exists()


def test_over_spark_connect_a_statement_recovers_and_the_rest_says_what_it_needs(
    spark: SparkSession, scene: Scene, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Connected:
        """A session without a JVM."""

        sql = staticmethod(spark.sql)

    class Builder:
        """A builder of this session."""

        def getOrCreate(self) -> Connected:  # noqa: N802
            return Connected()

    monkeypatch.setenv("SPARK_REMOTE", "sc://elsewhere")
    monkeypatch.setattr("pyspark.sql.SparkSession.builder", Builder())
    monkeypatch.setattr(tool, "local_path", lambda _: None)
    table = scene.take("retire-1")
    assert tool.run("recover", str(table.root))["exitCode"] == 0
    assert table.plain_ids() == once(table.ids)
    assert table.leftovers(1) == []
    with pytest.raises(ToolError, match="`uninstall` needs a JVM, which Spark Connect does not offer"):
        tool.run("uninstall", str(table.root))


def test_a_recovery_is_in_the_log(spark: SparkSession, scene: Scene, tmp_path: Path) -> None:
    table = scene.take("retire-1")
    with logged(spark, tmp_path / "log") as log:
        table.spark_ids(spark)
        first = log.read_text()
        table.spark_ids(spark)
    lines = [line for line in first.splitlines() if "Recovery of " in line]
    assert any(line.startswith("WARN ") and "finished version 1" in line for line in lines)
    assert log.read_text() == first
