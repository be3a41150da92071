"""A full disk: a file system of a few megabytes, or a limit on the size of files if none can be mounted."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from processes import environment
from small_tables import SmallTable, once

pytestmark = pytest.mark.test_all

FILES = 8
ROWS = 6_000
MEGABYTE = 1 << 20


def write_table(root: Path, packed: bool = False) -> SmallTable:
    """Write files of about 0.8 megabytes each that cannot be compressed, or `packed` ones of half that size."""
    root.mkdir(parents=True)
    for i in range(FILES):
        ids = range(i * ROWS, (i + 1) * ROWS)
        columns = {
            "id": pa.array(ids, pa.int64()),
            "a": pa.array((j * 7919 % 10007 for j in ids), pa.int32()),
            "noise": pa.array((os.urandom(60).hex().encode() if packed else os.urandom(120) for _ in ids), pa.binary()),
        }
        pq.write_table(pa.table(columns), root / f"part-{i}.parquet", compression="zstd", use_dictionary=not packed)
    return SmallTable(root, False)


def run(work: Path, command: list[str], limit: int | None = None) -> dict[str, Any]:
    def limited() -> None:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))

    own = environment(PYTHONPATH=os.pathsep.join(sys.path))
    done = subprocess.run(command, env=own, cwd=work, capture_output=True, text=True, timeout=300, preexec_fn=limited)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def assert_refused(answer: dict[str, Any], words: str, condition: str = "ZORDER_NOT_ENOUGH_SPACE.DISK_FULL") -> None:
    """Check for a clear error, and that the table is unchanged: names, bytes, rows, and nothing new beside them."""
    assert answer["error"] == condition, answer
    assert words in answer["message"]
    assert answer["after"] == answer["before"]
    assert answer["rows"] == [True, FILES * ROWS]
    assert answer["left"] == []


def on_small_disk(tmp_path: Path, size: int, kind: str) -> dict[str, Any]:
    mount = tmp_path / "disk"
    mount.mkdir()
    namespace = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]
    script = f'mount -t tmpfs -o size={size} none "$1" && exec "$2" "$3" "$1/t" "$4"'
    if (
        shutil.which("unshare") is None
        or subprocess.run([*namespace, 'mount -t tmpfs none "$0"', str(mount)]).returncode
    ):
        pytest.skip("no file system can be mounted here")
    return run(tmp_path, [*namespace, script, "sh", str(mount), sys.executable, __file__, kind])


def test_no_space_left_for_the_files_anew(tmp_path: Path) -> None:
    # The table has room for a copy of itself, but not for an uncompressed one.
    answer = on_small_disk(tmp_path, FILES * ROWS * 80 * 9 // 4, "packed")
    assert_refused(answer, "No space left on device")


def test_too_little_space_for_a_copy_is_refused_before_the_work(tmp_path: Path) -> None:
    answer = on_small_disk(tmp_path, FILES * ROWS * 140 * 3 // 2, "plain")
    assert_refused(answer, "bytes left", "ZORDER_NOT_ENOUGH_SPACE.EXPECTED")
    needed, available = map(int, re.findall(r"(\d+) bytes", answer["message"]))
    assert 0 < available < needed == sum(length for _, length, _ in answer["before"])


def test_a_file_that_grows_too_large(tmp_path: Path) -> None:
    # Our jar, which Spark copies, and the shuffle file of a task are smaller than the limit. The only output is larger.
    answer = run(tmp_path, [sys.executable, __file__, str(tmp_path / "t"), "plain"], 5 * MEGABYTE)
    assert_refused(answer, "File too large")


def main(root: Path, kind: str) -> None:
    """Write a table, rewrite it into one file, and print the outcome."""
    from comparison import ERRORS, condition_of
    from pyspark.sql import SparkSession

    from spark_zorder import configure_spark

    packed = kind == "packed"
    table = write_table(root, packed)
    options = "'num-files' = '1'" + (", 'compression' = 'none'" if packed else "")
    builder = (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.memory", "1g")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.files.maxPartitionBytes", str(MEGABYTE))
        .config("spark.sql.files.openCostInBytes", str(MEGABYTE))
        .config("spark.sql.catalogImplementation", "in-memory")
    )
    spark = configure_spark(builder).getOrCreate()

    def contents() -> list[tuple[str, int, int]]:
        return [(f.name, f.stat().st_size, f.stat().st_mtime_ns) for f in table.files()]

    before = contents()
    answer: dict[str, Any] = {"error": None, "message": "", "before": before}
    try:
        spark.sql(f"OPTIMIZE {table.source} ZORDER BY (a) OPTIONS ({options})").collect()
    except ERRORS as error:
        java = getattr(error, "java_exception", None)
        answer |= {"error": condition_of(error), "message": str(java.getMessage() if java else error)}
    found = table.plain_ids()
    answer |= {"after": contents(), "rows": [found == once(found), len(found)], "left": table.leftovers(0)}
    print(json.dumps(answer), flush=True)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
