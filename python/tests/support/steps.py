"""Steps of a commit at which another process dies or pauses.

A step is a call to the file system: the last of a series of calls, each given by a pattern of its name and its paths. A
process with the variables that `environment` returns has `Steps.java` make all its calls.
"""

import os
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import pyspark
from processes import java

from spark_zorder import jar_path

PROPERTY = "spark.zorder.test.step"
"""The system property that names a step to a process that runs already."""

LOCK = r".*/_zorder/_lock-.*"
RECORD = r".*/_zorder/_v\d+"

BEFORE, AFTER = "before", "after"

STEPS: dict[str, tuple[str, ...]] = {
    "after-lock": (AFTER, f"writeNew {LOCK}", "list .*/_zorder"),
    "after-manifest": (AFTER, "rename .* .*/_staging-[^/]*"),
    # The second folder of a small table, or its only one.
    "after-stage-folders": (AFTER, "writeNew .*/(?!p=1/)[^/]*/_zorder/_exchange-.*"),
    "after-staging": (BEFORE, "adoptRights", "list .*/_zorder"),
    "after-staging-all": (BEFORE, "status .*/_README.txt"),
    "before-commit-point": (AFTER, "status .*/_README.txt", "delete .*/_tmp-.*", f"exists {LOCK}"),
    "after-commit-point": (AFTER, rf"rename .* {RECORD}[^/]*\.publishing"),
    "reveal-1": (AFTER, r"rename .*/_zorder/staging/[^ ]* (?!.*/_zorder/).*"),
    "reveal-in-p=2": (AFTER, r"rename .*/p=2/_zorder/staging/[^ ]* (?!.*/_zorder/).*"),
    "decided": (AFTER, "rename .* .*/_exchange-.*"),
    "retire-1": (AFTER, r"rename (?![^ ]*/_zorder/).* .*/_zorder/trash/.*"),
    "before-record-done": (BEFORE, rf"rename .* {RECORD}[^/]*\.(json|undone)"),
    "after-record-done": (AFTER, rf"rename .* {RECORD}[^/]*\.json"),
    "after-clean": (AFTER, "delete .*/_staging-[^/]*"),
    "before-unlock": (BEFORE, f"delete {LOCK}"),
    "after-unlock": (AFTER, f"delete {LOCK}"),
    # It deletes the lock of a dead process first.
    "recovered": (BEFORE, f"delete {LOCK}", f"delete {LOCK}"),
    "drop-1": (AFTER, r"delete (?!.*/_zorder/).*\.parquet"),
    # An undone RESTORE puts files of the first version back where they were.
    "put-back-1": (AFTER, r"rename (?![^ ]*/_zorder/).* .*/_zorder/trash/_v0*1-.*"),
    "vacuum-record": (AFTER, rf"rename .* {RECORD}[^/]*\.vacuumed"),
    "vacuum-1": (AFTER, "deleteRecursive .*/_zorder/trash/.*"),
}
"""Names of the steps: whether it stops before or after the last call, and the calls."""

BY_CATALOG: dict[str, tuple[str, ...]] = {
    "after-manifest": STEPS["after-manifest"],
    "after-stage-folders": (AFTER, *["mkdirsLike .*"] * 3),
    "after-sentinels": (BEFORE, *["writeNew .*/_left-[^/]*"] * 3, "writeNew .*/_tmp-[^/]*"),
    "before-commit-point": (AFTER, rf"rename .* {RECORD}[^/]*\.moving"),
    # The catalog is told between these calls.
    "after-commit-point": (BEFORE, rf"rename .* {RECORD}[^/]*\.moving", "list .*"),
}
"""The same for a table of three partitions that moves to new folders."""


def step(name: str, gate: Path | None = None, steps: dict[str, tuple[str, ...]] = STEPS) -> str:
    """The value that makes a process die at a step, or wait for the file `gate` after it made `<gate>.reached`."""
    return "\n".join([str(gate or ""), *steps[name]])


def environment(asked: str = "") -> dict[str, str]:
    """The variables of a process that stops at a step; one that is named later if it is empty."""
    options = os.environ.get("JDK_JAVA_OPTIONS", "")
    return {
        "SPARK_ZORDER_STEP": asked,
        "SPARK_DIST_CLASSPATH": os.pathsep.join([str(jar_path()), _classes().name]),
        "JDK_JAVA_OPTIONS": f"{options} -Dspark.zorder.test.fileOps=Steps",
    }


@cache
def _classes() -> tempfile.TemporaryDirectory[str]:
    """The folder of the compiled class. It is there as long as this process runs."""
    folder = tempfile.TemporaryDirectory()
    copy = Path(folder.name, "Steps.java")
    source = Path(__file__).with_name("Steps.java").read_text()
    if pyspark.__version__.startswith("3."):
        # What Scala 2.12 calls `Seq`.
        source = source.replace("scala.collection.immutable.Seq", "scala.collection.Seq")
    copy.write_text(source)
    jars = os.pathsep.join([str(jar_path()), str(Path(pyspark.__file__).parent / "jars" / "*")])
    command = [java("javac"), "-nowarn", "-cp", jars, "-d", folder.name, str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return folder
