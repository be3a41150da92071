"""Measures the resources of a process: threads, open files, and the heap after a collection."""

import re
import time
from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

SETTLING = 3.0
"""The seconds in which pools and connections release the resources of a thread that ended."""


def of_jvm(spark: SparkSession, tables: Path) -> dict[str, Any]:
    """The resources of the JVM of a session while nothing runs. No file of the folder of all tables may be open."""
    jvm: Any = spark.sparkContext._jvm
    # Spark's cleaner runs after the collector, and releases more.
    for _ in range(3):
        jvm.java.lang.System.gc()
        time.sleep(SETTLING / 3)
    heap = jvm.java.lang.management.ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    names = [t.getName() for t in jvm.java.lang.Thread.getAllStackTraces().keySet()]
    threads = Counter(re.sub(r"[0-9a-f]{8}-[0-9a-f-]{27}|\d+", "#", name) for name in names)
    return {"heap": heap, "threads": dict(threads)} | of_files(jvm.java.lang.ProcessHandle.current().pid(), tables)


def of_files(pid: int, tables: Path) -> dict[str, Any]:
    # One of them is closed by now: the one that read the folder itself.
    links = [str(link.readlink()) for link in Path(f"/proc/{pid}/fd").iterdir() if link.is_symlink()]
    return {
        "files": len(links),
        "deleted": sorted(link for link in links if link.endswith(" (deleted)")),
        "of tables": sorted(link for link in links if str(tables) in link),
        "kinds": dict(Counter(re.sub(r"\d+", "#", link) for link in links)),
    }
