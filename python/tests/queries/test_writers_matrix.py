"""Every version of each writer that installs today: what is believed of its footers is true.

A version gets an environment below `build/writers`. These are 3 GB, and stay. A new version enters this list, and then
the table in `WritersTable.scala` and on `docs/writers.md`.
"""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from fetched_jars import fetched_jars
from writers import base, check

REPOSITORY = Path(__file__).parents[3]
PROGRAMS = REPOSITORY / "python" / "tests" / "support" / "writers"
FOLDER = REPOSITORY / "build" / "writers"

# All that have a wheel for this Python, and the jars in tools/jars.txt. 12.0.1 of pyarrow names itself 12.0.0.
VERSIONS = {
    "pyarrow": "10.0.1 11.0.0 12.0.0 12.0.1 13.0.0 14.0.0 14.0.1 14.0.2 15.0.0 15.0.1 15.0.2 16.0.0 16.1.0 17.0.0"
    " 18.0.0 18.1.0 19.0.0 19.0.1 20.0.0 21.0.0 22.0.0 23.0.0 23.0.1 24.0.0 25.0.0 25.0.1 26.0.0 26.0.1",
    "polars": "1.30.0 1.31.0 1.32.0 1.32.2 1.32.3 1.33.0 1.33.1 1.34.0 1.35.1 1.35.2 1.36.1 1.37.0 1.37.1 1.38.1 1.39.0"
    " 1.39.3 1.40.0 1.40.1 1.41.1 1.41.2 1.42.0 1.42.1 1.43.2 1.44.1 1.44.2 2.0.0 2.1.0",
    "duckdb": "0.8.0 0.8.1 0.9.0 0.9.1 0.9.2 0.10.0 0.10.1 0.10.2 0.10.3 1.0.0 1.1.0 1.1.1 1.1.2 1.1.3 1.2.0"
    " 1.2.1 1.2.2 1.3.0 1.3.1 1.3.2 1.4.0 1.4.1 1.4.2 1.4.3 1.4.4 1.4.5 1.5.0 1.5.1 1.5.2 1.5.3 1.5.4 1.5.5 1.5.6"
    " 2.0.0 2.0.1",
    "datafusion": "28.0.0 31.0.0 32.0.0 33.0.0 34.0.0 35.0.0 36.0.0 37.1.0 38.0.1 39.0.0 40.1.0 41.0.0 42.0.0 43.1.0"
    " 44.0.0 45.2.0 46.0.0 47.0.0 48.0.0 49.0.0 50.0.0 50.1.0 51.0.0 52.0.0 52.3.0 53.0.0 54.0.0 54.1.0 55.0.0",
}
JAVA = (
    "1.10.0 1.10.1 1.11.0 1.11.1 1.11.2 1.12.0 1.12.2 1.12.3 1.13.0 1.13.1 1.14.1 1.14.4 1.15.0 1.15.1 1.15.2 1.16.0"
    " 1.17.0"
)

CASES = [(writer, version) for writer, versions in VERSIONS.items() for version in versions.split()]


@dataclass(frozen=True)
class Believed:
    """A row of the table on docs/writers.md."""

    name: str
    first: tuple[int, ...]
    last: tuple[int, ...]
    claims: frozenset[str]


def parts(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split("."))


def table() -> list[Believed]:
    """The table of the page. A test of the JVM compares it with the code."""
    rows = re.findall(
        r"^\| `([^`]+)` \| ([\d.]+) to ([\d.]+) \|((?: (?:yes|no) \|){5})$",
        (REPOSITORY / "docs" / "writers.md").read_text(),
        re.MULTILINE,
    )
    names = ("bounds", "booleans", "nulls", "fields", "no_nan")
    return [
        Believed(
            name,
            parts(first),
            parts(last),
            frozenset(c for c, said in zip(names, flags.split("|"), strict=False) if said.strip() == "yes"),
        )
        for name, first, last, flags in rows
    ]


def believed_of(created_by: str) -> frozenset[str]:
    found = re.fullmatch(r"(.+?) version v?(\d+\.\d+\.\d+)(?: \(build [^)]*\))?", created_by)
    if not found:
        return frozenset()
    version = parts(found[2])
    rows = [row for row in table() if row.name == found[1] and row.first <= version <= row.last]
    return rows[0].claims if rows else frozenset()


@pytest.fixture(scope="module")
def source() -> Path:
    FOLDER.mkdir(parents=True, exist_ok=True)
    base.write(FOLDER / "base.parquet")
    return FOLDER / "base.parquet"


def installed(*requirements: str) -> Path:
    folder = FOLDER / requirements[0].replace("==", "-").replace("<", "-below-")
    if not (folder / ".done").exists():
        plain = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:", "--no-compile", "--no-deps"]
        subprocess.run([sys.executable, "-m", "pip", "install", *plain, "--target", folder, *requirements], check=True)
        (folder / ".done").touch()
    return folder


def path_of(writer: str, version: str) -> list[Path]:
    """The folders with the writer and what it needs."""
    own = installed(f"{writer}=={version}")
    match writer:
        case "pyarrow":
            return [own, installed("numpy==1.26.4")] if parts(version) < (18,) else [own]
        case "polars":
            return [own, installed(f"polars-runtime-32=={version}")] if parts(version) >= (1, 34) else [own]
        case "datafusion":
            return [own, installed("pyarrow==21.0.0"), installed("typing_extensions==4.15.0")]
        case _:
            return [own]


def files_of(writer: str, version: str, source: Path, folder: Path) -> list[Path]:
    paths = os.pathsep.join(str(path) for path in path_of(writer, version))
    program = [sys.executable, "-S", str(PROGRAMS / "write.py"), writer, str(source), str(folder)]
    # Some old versions crash with some settings. What they have written is checked.
    subprocess.run(program, env={**os.environ, "PYTHONPATH": paths}, check=False, timeout=900)
    return sorted(folder.glob("*.parquet"))


def assert_true(files: list[Path]) -> None:
    """What is believed of the writer of these files is true for them."""
    verdict = check.check(files)
    believed = frozenset.union(*map(believed_of, verdict.created_by))
    kinds = {
        "bounds": ("numbers", "texts", "floats"),
        "booleans": ("booleans",),
        "nulls": ("nulls",),
        "fields": ("nested",),
        "no_nan": ("nan",),
    }
    for claim in believed:
        assert sum(verdict.claims.get(kind, 0) for kind in kinds[claim]) > 0, (claim, verdict.created_by)
        for kind in kinds[claim]:
            assert not verdict.wrong.get(kind), (kind, verdict.created_by, verdict.wrong[kind][:5])


@pytest.mark.test_all
@pytest.mark.parametrize(("writer", "version"), CASES)
def test_what_is_believed_of_footers_is_true(writer: str, version: str, source: Path, tmp_path: Path) -> None:
    files = files_of(writer, version, source, tmp_path / "files")
    assert files
    assert_true(files)


@pytest.mark.test_all
@pytest.mark.parametrize("version", JAVA.split())
def test_what_is_believed_of_parquet_java_is_true(version: str, source: Path, tmp_path: Path) -> None:
    jars = (
        Path(sys.prefix) / "lib" / f"python{sys.version_info[0]}.{sys.version_info[1]}" / "site-packages/pyspark/jars"
    )
    others = [jar for jar in jars.glob("*.jar") if not jar.name.startswith(("parquet-", "hive-", "spark-"))]
    # The newest is that of Spark.
    bundles = [jar for jar in fetched_jars("parquet") if jar.endswith(f"-{version}.jar")]
    path = bundles or [str(jar) for jar in jars.glob(f"parquet-*-{version}.jar")]
    assert path
    opened = ["--add-opens=java.base/java.lang=ALL-UNNAMED", "--add-opens=java.base/java.nio=ALL-UNNAMED"]
    class_path = os.pathsep.join([*path, *map(str, others)])
    folder = tmp_path / "files"
    folder.mkdir()
    program = PROGRAMS / "WriteByParquetJava.java"
    subprocess.run(["java", "-Xmx2g", *opened, "-cp", class_path, program, source, folder], check=True)
    assert_true(sorted(folder.glob("*.parquet")))


def test_the_ends_of_the_table_are_versions_that_are_tested() -> None:
    tested = {
        "parquet-mr": JAVA,
        "parquet-cpp-arrow": VERSIONS["pyarrow"],
        "Polars (python)": VERSIONS["polars"],
        "DuckDB": VERSIONS["duckdb"],
        # The packages 35.0.0, 37.1.0 and 55.0.0.
        "parquet-rs": "50.0.0",
        "datafusion": "37.1.0 55.2.0",
    }
    rows = table()
    assert {row.name for row in rows} >= {"parquet-mr", "parquet-cpp-arrow"}
    for row in rows:
        if row.name in tested:
            versions = [parts(version) for version in tested[row.name].split()]
            assert row.first in versions, row
            assert row.last in versions, row
