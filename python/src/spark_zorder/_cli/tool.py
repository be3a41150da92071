"""Commands on a table's side folder that need no session. A small Java program runs them with the jars of pyspark.

For a path that is not on a local disk, the same code runs in the JVM of a session.
"""

from __future__ import annotations

import importlib.util
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from spark_zorder.artifacts import jar_path
from spark_zorder.errors import NoJarError, ToolError

DONE, FAILED, USAGE, LOCKED = 0, 1, 2, 3
"""Exit codes."""

_MAIN = "org.sparkzorder.tool.TableTool"
_FLAGS = ("-Xshare:auto", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def run(command: str, path: str, lock_timeout: int = 60, *, flag: str = "") -> dict[str, Any]:
    """Run `status`, `recover`, `unlock` or `uninstall` on a table.

    Args:
        command: One of these four.
        path: The table's folder, as a local path or a URI.
        lock_timeout: The age in seconds at which the heartbeat of an owner on another host counts as too old.
        flag: `force` makes `unlock` remove the lock of an owner that may live. `old` or `new` are the files that
            `recover --keep` takes for the rows where nothing else tells.

    Returns:
        The findings or actions. `exitCode` is 0 for success, 1 for a failure, 3 when a living owner holds the lock.
            Unless it is 0, `error` and `message` give the reason.

    Raises:
        ToolError: Neither Java with pyspark's jars nor a session is available.
    """
    local = local_path(path)
    if local is None:
        return _by_session(command, path, lock_timeout, flag=flag)
    try:
        java = _java()
    except ToolError as no_java:
        if not os.environ.get("SPARK_REMOTE"):
            raise
        return _by_session(command, path, lock_timeout, flag=flag, why=str(no_java))
    return _by_java(java, command, str(Path(local).absolute()), lock_timeout, flag=flag)


def local_path(path: str) -> str | None:
    """The path on a local disk. None if a URI names another file system."""
    scheme = re.match(r"([A-Za-z][A-Za-z0-9+.-]*):/", path)
    if scheme is None:
        return path
    return unquote(urlsplit(path).path) if scheme[1].lower() == "file" else None


def _java() -> list[str]:
    jars = _spark_jars()
    core = next(iter(jars.glob("spark-core_*.jar")), None)
    version = re.search(r"-(\d+\.\d+[^-]*)\.jar$", core.name) if core else None
    if version is None:
        raise ToolError(f"there are no jars of Spark in {jars}")
    home = os.environ.get("JAVA_HOME")
    java = shutil.which("java", path=str(Path(home) / "bin")) if home else shutil.which("java")
    if java is None:
        where = f"in {home}/bin, the folder in JAVA_HOME" if home else "on the path: install Java 17, or set JAVA_HOME"
        raise ToolError(f"there is no `java` {where}")
    try:
        ours = jar_path(version[1])
    except NoJarError as error:
        raise ToolError(str(error)) from error
    return [java, *_FLAGS, "-cp", os.pathsep.join([str(ours), str(jars / "*")])]


def _spark_jars() -> Path:
    home = os.environ.get("SPARK_HOME")
    if home:
        return Path(home) / "jars"
    # Importing pyspark takes as long as all the rest, so this only looks for its folder.
    found = importlib.util.find_spec("pyspark")
    if found is None or not found.submodule_search_locations:
        raise ToolError("there are no jars of Spark: install pyspark, or set SPARK_HOME")
    return Path(next(iter(found.submodule_search_locations))) / "jars"


def _by_java(java: list[str], command: str, path: str, lock_timeout: int, *, flag: str) -> dict[str, Any]:
    asked = [*java, _MAIN, command, path, str(lock_timeout), flag]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    lines = done.stdout.splitlines()
    try:
        return dict(json.loads(lines[-1]))
    except (IndexError, ValueError) as error:
        raise ToolError(f"Java ended with {done.returncode}: {(done.stderr or done.stdout).strip()[-2000:]}") from error


def _by_session(command: str, path: str, lock_timeout: int, *, flag: str, why: str | None = None) -> dict[str, Any]:
    reason = why or f"`{path}` is not on a local disk"
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ToolError(f"{reason}, and there is no pyspark for a session") from error
    from spark_zorder.session import configure_spark

    builder = SparkSession.builder
    if not os.environ.get("SPARK_REMOTE"):
        builder = configure_spark(builder)
    session = builder.getOrCreate()
    # A session over Spark Connect lacks this attribute.
    jvm: Any = getattr(session, "_jvm", None)
    if jvm is not None:
        state: Any = session._jsparkSession.sessionState()
        tool = jvm.org.sparkzorder.tool.TableTool
        return dict(json.loads(tool.run(command, path, lock_timeout, flag, state.newHadoopConf())))
    if command != "recover" or flag:
        asked = f"{command} --keep {flag}" if command == "recover" else f"{command} --{flag}" if flag else command
        raise ToolError(
            f"{reason}, and `{asked}` needs a JVM, which Spark Connect does not offer. Run it where Java and "
            "pyspark's jars are, or with a classic session. Over Spark Connect, `recover` works."
        )
    # Each statement recovers the table first.
    session.sql("DESCRIBE HISTORY '{}'".format(path.replace("\\", "\\\\").replace("'", "\\'"))).collect()
    return {"command": command, "path": path, "exitCode": DONE, "actions": None}
