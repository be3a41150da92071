"""SQL files with their results beside them, as in Spark's SQLQueryTestSuite.

`sql-tests/inputs/<name>.sql` holds statements, each ended by `;` at the end of its line. The file runs in a database of
its own, which is the current one. Its tables are in a new folder, and `${dir}` stands for that folder in statements and
results. Lines that begin with `--` are comments, and `-- since Spark 4.0` leaves a file out on older versions. Where a
Spark writes other numbers of files, its results are in `sql-tests/results/<minor>`. These commands work on files:

    --! mkdir <path>            make a folder and its parents
    --! write <path> <text>     write a file (the text may be missing)
    --! delete <path>           delete a file, a folder, or all that match a pattern
    --! snapshot <path>         remember every file and folder below: its name, its bytes and its modification time
    --! unchanged               fail unless everything in the snapshots is as it was
    --! forget                  forget all snapshots

`sql-tests/results/<name>.sql.out` holds each statement, the schema of its result, and its rows or its error. An error
has its class and its message with the error condition and SQLSTATE. For errors of Spark itself, only the condition and
the SQLSTATE are kept, because the words differ between versions of Spark. The rows of a query without ORDER BY are
sorted. Those of any other statement keep their order.

These rules replace what differs from run to run:

    the folder                                      ${dir}
    the name of a file that Spark wrote             <file>
    a UUID                                          <uuid>
    values of the fields in BYTES (sizes)           <bytes>, except for min and max, which are values of a column
    values of the fields in TIMES (times, spans)    <time>
    values of the fields in USERS                   <user>
    numbers, sizes and times in REASONS             <n>, <bytes>, <time>
"""

import datetime
import hashlib
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from spark_zorder.errors import condition_of

BYTES = re.compile(r"bytes(_.*|Share.*)?|.*_bytes|size|.*_size(_.*)?|.*(Size|Bytes)(AfterRestore)?|min|max|avg")
TIMES = re.compile(r"timestamp|last_optimize|createdAt|lastModified|.*_ms|.*Ms|.*Millis|.*Seconds|seconds")
USERS = re.compile(r"userId|user_id")
REASONS = re.compile(r"reason|strategyReason|summary")

_FILE = re.compile(r"(part|zorder)-[0-9a-zA-Z-]+[-_.][0-9a-zA-Z._-]*(parquet|orc)\b")
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


def first_spark(text: str) -> str | None:
    """The first minor of Spark that can run an input file."""
    found = re.search(r"^-- since Spark (\d+\.\d+)$", text, re.M)
    return found.group(1) if found else None


@dataclass(frozen=True)
class Command:
    """A command on files."""

    name: str
    argument: str


@dataclass(frozen=True)
class Statement:
    """A statement, without its semicolon."""

    sql: str


def parse(text: str) -> Iterator[Command | Statement]:
    """Read the commands and statements of an input file."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith("--! "):
            if lines:
                raise ValueError(f"a command in the middle of a statement: {line}")
            name, _, argument = line[4:].strip().partition(" ")
            yield Command(name, argument.strip())
        elif line.lstrip().startswith("--") or not (lines or line.strip()):
            continue
        elif line.rstrip().endswith(";"):
            yield Statement("\n".join([*lines, line.rstrip()[:-1]]))
            lines = []
        else:
            lines.append(line.rstrip())
    if lines:
        raise ValueError(f"no semicolon at the end of: {lines}")


def snapshot(folder: Path) -> dict[str, tuple[str, int]]:
    """Digests and modification times of every file and folder below, and of the folder itself."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        digest = hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "folder"
        found[str(path.relative_to(folder))] = (digest, path.stat().st_mtime_ns)
    return found


class Runner:
    """Runs one input file in a session of its own, with an empty folder for its database."""

    def __init__(self, spark: SparkSession, directory: Path) -> None:
        self._spark = spark
        self._directory = directory
        self._remembered: dict[Path, dict[str, tuple[str, int]]] = {}

    def run(self, text: str) -> str:
        """Run the file and return its results. Fails if something changed between a snapshot and an `unchanged`."""
        blocks = ["-- Written by `make golden`: look at the diff."]
        for part in parse(text.replace("${dir}", str(self._directory))):
            if isinstance(part, Command):
                self._work(part)
            else:
                schema, output = self._execute(part.sql)
                query, output = self._clean(part.sql), self._clean(output)
                blocks.append(f"-- !query\n{query}\n-- !query schema\n{schema}\n-- !query output\n{output}")
        return "\n\n\n".join(blocks) + "\n"

    def _work(self, command: Command) -> None:
        first, _, rest = command.argument.partition(" ")
        path = self._directory / first
        match command.name:
            case "mkdir":
                path.mkdir(parents=True)
            case "write":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(rest)
            case "delete":
                found = list(self._directory.glob(first))
                assert found, f"nothing to delete: {first}"
                for each in found:
                    shutil.rmtree(each) if each.is_dir() else each.unlink()
            case "snapshot":
                self._remembered[path] = snapshot(path)
            case "unchanged":
                assert self._remembered, "nothing to compare: use `snapshot` first"
                for folder, before in self._remembered.items():
                    assert snapshot(folder) == before, f"{folder} has changed"
            case "forget":
                self._remembered.clear()
            case other:
                raise ValueError(f"no such command: {other}")

    def _execute(self, sql: str) -> tuple[str, str]:
        try:
            result = self._spark.sql(sql)
            rows = result.collect()
        except PySparkException as error:
            return "struct<>", describe_error(error)
        lines = ["\t".join(show(value, name) for name, value in zip(result.columns, row, strict=True)) for row in rows]
        if re.match(r"\s*(SELECT|WITH|VALUES|TABLE)\b", sql, re.IGNORECASE) and "ORDER BY" not in sql.upper():
            lines = sorted(map(self._clean, lines))
        return result.schema.simpleString(), "\n".join(lines)

    def _clean(self, text: str) -> str:
        text = text.replace(f"file:{self._directory}", "${dir}").replace(str(self._directory), "${dir}")
        text = text.replace(self._directory.name, "${db}")
        return _UUID.sub("<uuid>", _FILE.sub("<file>", text))


def describe_error(error: PySparkException) -> str:
    """The class and the message of an error, or only its condition if Spark raised it."""
    condition = condition_of(error)
    if condition is None or not condition.startswith("ZORDER_"):
        return f"{type(error).__name__}\n[{condition}] SQLSTATE: {error.getSqlState()}"
    message = str(error).split("\n\nJVM stacktrace")[0].split(";\n")[0].strip()
    return f"{type(error).__name__}\n{message}"


def show(value: Any, field: str) -> str:
    """A value as text. `field` is the name of its innermost field."""
    if value is None:
        return "NULL"
    if isinstance(value, Row):
        return "{" + ", ".join(f"{name}: {show(item, name)}" for name, item in value.asDict().items()) + "}"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key}: {show(value[key], str(key))}" for key in sorted(value)) + "}"
    for pattern, replacement in ((BYTES, "<bytes>"), (TIMES, "<time>"), (USERS, "<user>")):
        if pattern.fullmatch(field) and not (field in ("min", "max") and isinstance(value, str)):
            return replacement
    if isinstance(value, str) and REASONS.fullmatch(field):
        value = re.sub(r"\d+\.\d+(?= (%|times))", "<n>", value)
        value = re.sub(r"\d+(\.\d+)? ([KMGT]iB|bytes|B)\b", "<bytes>", value)
        return re.sub(r"(?<=in )(about )?\d+(\.\d+)? (s|min|h)\b", "<time>", value)
    if isinstance(value, list):
        return "[" + ", ".join(show(item, field) for item in value) + "]"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, bytes | bytearray):
        return value.hex().upper()
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, datetime.datetime):
        return value.isoformat(" ")
    return str(value)
