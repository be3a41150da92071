"""The archive that holds the jars of all Sparks: its jars are the built ones, and unpacking is safe."""

import os
import sys
import tempfile
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import tool

import spark_zorder
from spark_zorder import artifacts, jar_archive

NAMES = [f"spark-zorder-4.{minor}_2.13-9.9.jar" for minor in (1, 2)]


def contents(jar: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(jar) as file:
        assert file.testzip() is None
        return {name: file.read(name) for name in file.namelist() if not name.endswith("/")}


def build(folder: Path, shared: bytes) -> None:
    """Two jars with a shared class, packed into a folder."""
    folder.mkdir(exist_ok=True)
    jars = []
    for name in NAMES:
        jars.append(folder.parent / name)
        with zipfile.ZipFile(jars[-1], "w") as file:
            file.writestr("META-INF/MANIFEST.MF", "Manifest-Version: 1.0\n")
            file.writestr("org/", "")
            file.writestr(f"org/{'long' * 60}.class", shared)
            file.writestr("org/Own.class", name)
    tool("pack_jars").main(str(folder), *map(str, jars))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package's folder of jars, and a folder for temporary files."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(artifacts, "_FOLDER", tmp_path / "jars")
    build(tmp_path / "jars", os.urandom(100_000))
    return tmp_path / "jars"


def test_a_jar_has_what_was_built(folder: Path) -> None:
    assert artifacts.available_jars() == {"4.1": NAMES[0], "4.2": NAMES[1]}
    for version, name in zip(("4.1", "4.2"), NAMES, strict=True):
        path = spark_zorder.jar_path(version)
        assert path.name == name
        assert path.parent.parent == folder.parent / "cache" / "spark-zorder"
        assert contents(path) == contents(folder.parent / name)


def test_what_jars_share_is_stored_once(folder: Path) -> None:
    assert (folder / "jars.tar.xz").stat().st_size < 110_000
    before = (folder / "jars.tar.xz").read_bytes()
    tool("pack_jars").main(str(folder), *(str(folder.parent / name) for name in NAMES))
    assert (folder / "jars.tar.xz").read_bytes() == before


def written(path: Path) -> tuple[int, int]:
    """Which file it is, and when it was written."""
    return path.stat().st_ino, path.stat().st_mtime_ns


def test_an_unpacked_jar_stays(folder: Path) -> None:
    path = spark_zorder.jar_path("4.1")
    before = written(path)
    assert written(spark_zorder.jar_path("4.1")) == before


@pytest.mark.parametrize("damage", ["older", "half", "empty"])
def test_a_jar_that_is_not_of_this_archive_is_unpacked_anew(folder: Path, damage: str) -> None:
    path = spark_zorder.jar_path("4.1")
    if damage == "older":
        build(folder, b"another build of the same version")
    else:
        path.write_bytes(path.read_bytes()[: path.stat().st_size // 2] if damage == "half" else b"")
    assert contents(spark_zorder.jar_path("4.1")) == contents(folder.parent / NAMES[0])


def test_nothing_is_written_into_the_package(folder: Path) -> None:
    before = sorted(folder.iterdir())
    spark_zorder.jar_path("4.1")
    assert sorted(folder.iterdir()) == before


def test_a_jar_in_the_folder_itself_wins(folder: Path) -> None:
    (folder / NAMES[0]).write_bytes(b"a developer's")
    assert spark_zorder.jar_path("4.1") == folder / NAMES[0]
    assert spark_zorder.jar_path("4.2").parent.parent.name == "spark-zorder"


def cannot_write(folder: Path, name: str, jar: bytes) -> Path:
    """As `_write`, if the cache is read-only. Root may write to any folder."""
    if folder.parent.name == "spark-zorder":
        raise PermissionError(folder)
    return WRITE(folder, name, jar)


WRITE = jar_archive._write


def test_a_cache_that_is_read_only(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar_archive, "_write", cannot_write)
    path = spark_zorder.jar_path("4.1")
    assert path.parent.parent == folder.parent / "temporary"
    assert contents(path) == contents(folder.parent / NAMES[0])
    assert path.parent.stat().st_mode & 0o777 == 0o700
    before = written(path)
    assert written(spark_zorder.jar_path("4.1")) == before


@pytest.mark.skipif(sys.platform == "win32", reason="no rights of this kind")
def test_a_folder_in_which_others_can_write_is_refused(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jar_archive, "_write", cannot_write)
    path = spark_zorder.jar_path("4.1")
    path.parent.chmod(0o777)
    with pytest.raises(PermissionError, match="can be changed by other users"):
        spark_zorder.jar_path("4.1")


def test_many_at_once(folder: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        paths = set(pool.map(spark_zorder.jar_path, ["4.1"] * 16))
    [path] = paths
    assert [file.name for file in path.parent.iterdir()] == [NAMES[0]]
    assert contents(paths.pop()) == contents(folder.parent / NAMES[0])
