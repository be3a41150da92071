"""The commands of `python -m spark_zorder` for many tables: arguments, sessions, output."""

from __future__ import annotations

import argparse
import json
import re
import sys
from typing import TYPE_CHECKING, Any

from spark_zorder import nightly, tool
from spark_zorder.errors import NoExtensionError, ToolError
from spark_zorder.nightly import Outcome, Selected
from spark_zorder.tool_text import size_text

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_CODES = "Exit codes: 0 done, or nothing to do; 1 some table failed; 2 wrong usage; 3 all tables are locked."

_OPTIMIZE = """Optimize the tables that need it, most gain for each byte first, by `OPTIMIZE` without any words: with
the layout of the last `OPTIMIZE`, or that of the table properties. A table that fails does not stop the others."""

_VACUUM = "Delete the replaced files of all tables that are old enough, as `VACUUM` does."

_HISTORY = "Show the operations on a table, the newest first, as `DESCRIBE HISTORY` does."

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_SIZES = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4}


def add(commands: Subparsers) -> None:
    """Add the commands to the parser of the module."""
    optimize = commands.add_parser("optimize", help="optimize many tables", description=_OPTIMIZE, epilog=_CODES)
    add_selection(optimize)
    optimize.add_argument("--budget", type=_seconds, metavar="TIME", help="begin no table after so long: 90m, 2h")
    optimize.add_argument("--max-bytes", type=_bytes, metavar="SIZE", help="rewrite so much at most: 500GB")
    optimize.add_argument("--dry-run", action="store_true", help="change nothing, and say what would be done")
    optimize.set_defaults(run=_optimize)
    vacuum = commands.add_parser("vacuum", help="delete replaced files of many tables", description=_VACUUM)
    add_selection(vacuum)
    vacuum.add_argument("--retain-hours", type=float, metavar="HOURS", help="keep files that were replaced since")
    vacuum.add_argument("--dry-run", action="store_true", help="change nothing, and count the files")
    vacuum.set_defaults(run=_vacuum)
    history = commands.add_parser("history", help="show the operations on a table", description=_HISTORY)
    history.add_argument("table", help="a name, or '/path'")
    history.add_argument("--limit", type=int, default=20, metavar="N", help="the newest N (default 20)")
    _add_session(history)
    history.set_defaults(run=_history)


def add_selection(parser: argparse.ArgumentParser) -> None:
    """Add the arguments by which tables are chosen and a session is started."""
    parser.add_argument("--schema", action="append", default=[], metavar="NAME", help="a database; repeatable")
    parser.add_argument("--table", action="append", default=[], metavar="NAME", help="only this table; repeatable")
    _add_session(parser)


def _add_session(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--conf", action="append", default=[], metavar="KEY=VALUE", help="a setting; repeatable")
    parser.add_argument("--remote", metavar="URL", help="a Spark Connect server, such as sc://host:15002")
    if not any(action.dest == "json" for action in parser._actions):
        parser.add_argument("--json", action="store_true", help="print JSON")


def status(options: argparse.Namespace) -> int:
    """Print a line, or an object, for each table of some schemas."""
    return _with_session(options, _status)


def _status(spark: SparkSession, options: argparse.Namespace) -> int:
    rows = nightly.states(spark, _selected(options))
    if options.json:
        print(json.dumps([nightly.told(row) for row in rows]))
    else:
        print(_table([_HEAD, *map(_cells, rows)]))
    return tool.DONE


def _optimize(options: argparse.Namespace) -> int:
    return _with_session(options, _run_optimize)


def _run_optimize(spark: SparkSession, options: argparse.Namespace) -> int:
    outcomes = nightly.optimize(
        spark,
        _selected(options),
        seconds=options.budget,
        max_bytes=options.max_bytes,
        dry_run=options.dry_run,
        report=_progress(options),
    )
    return _end(options, outcomes)


def _vacuum(options: argparse.Namespace) -> int:
    return _with_session(options, _run_vacuum)


def _run_vacuum(spark: SparkSession, options: argparse.Namespace) -> int:
    outcomes = nightly.vacuum(
        spark,
        _selected(options),
        retain_hours=options.retain_hours,
        dry_run=options.dry_run,
        report=_progress(options),
    )
    return _end(options, outcomes)


def _history(options: argparse.Namespace) -> int:
    return _with_session(options, _run_history)


def _run_history(spark: SparkSession, options: argparse.Namespace) -> int:
    from spark_zorder.table import ZOrderTable

    path = options.table.startswith(("/", "'")) or "://" in options.table
    table = ZOrderTable.for_path(spark, options.table.strip("'")) if path else ZOrderTable(spark, options.table)
    rows = table.describe_history(options.limit).collect()
    if options.json:
        print(json.dumps([row.asDict(recursive=True) for row in rows], default=str))
    else:
        head = ("VERSION", "TIME", "OPERATION", "STATE", "FILES")
        print(_table([head, *map(_operation, rows)]))
    return tool.DONE


def _operation(row: Row) -> tuple[str, ...]:
    metrics = row.operationMetrics or {}
    files = f"{metrics.get('numRemovedFiles', '?')} → {metrics.get('numAddedFiles', '?')}"
    return (str(row.version), f"{row.timestamp:%Y-%m-%d %H:%M:%S}", row.operation, row.state, files)


def _with_session(options: argparse.Namespace, run: Any) -> int:
    from pyspark.errors import PySparkException

    try:
        spark = _session(options)
        code: int = run(spark, options)
    except (ToolError, NoExtensionError, PySparkException) as error:
        message = str(error).strip().splitlines()[0]
        if options.json:
            print(json.dumps({"exitCode": tool.FAILED, "error": "CANNOT_RUN", "message": message}))
        else:
            print(message, file=sys.stderr)
        return tool.FAILED
    return code


def _session(options: argparse.Namespace) -> SparkSession:
    """A session with the extension, or one of Spark Connect."""
    try:
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise ToolError("there is no pyspark for a session") from error
    from spark_zorder.errors import NoJarError
    from spark_zorder.session import configure_spark

    builder = SparkSession.builder.appName("spark-zorder")
    for setting in options.conf:
        key, _, value = setting.partition("=")
        builder = builder.config(key, value)
    if options.remote:
        return builder.remote(options.remote).getOrCreate()
    try:
        spark = configure_spark(builder).getOrCreate()
    except NoJarError as error:
        raise ToolError(str(error)) from error
    return spark


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse wrong arguments, with exit code 2."""
    for setting in getattr(options, "conf", []):
        if "=" not in setting:
            parser.error(f"--conf {setting}: write key=value")
    limit = getattr(options, "limit", None)
    if limit is not None and limit < 0:
        parser.error("--limit must be 0 or more")
    hours = getattr(options, "retain_hours", None)
    if hours is not None and not 0 <= hours < 1e6:
        parser.error("--retain-hours must be 0 or more")


def _selected(options: argparse.Namespace) -> Selected:
    return Selected(tuple(options.schema), tuple(options.table))


def _progress(options: argparse.Namespace) -> Any:
    # With --json the lines go beside the output.
    stream = sys.stderr if options.json else sys.stdout

    def report(number: int, of: int, outcome: Outcome) -> None:
        print(f"[{number}/{of}] {outcome.table}: {outcome.outcome}. {outcome.message}", file=stream, flush=True)

    return report


def _end(options: argparse.Namespace, outcomes: list[Outcome]) -> int:
    code = nightly.exit_code(outcomes)
    if options.json:
        print(json.dumps({"exitCode": code, "tables": [nightly.as_json(outcome) for outcome in outcomes]}))
        return code
    reported = [outcome for outcome in outcomes if outcome.message.startswith("error: ")]
    for outcome in reported:
        print(f"{outcome.table}: failed. {outcome.message}")
    if not outcomes:
        print("Nothing to do.")
    return code


_HEAD = ("TABLE", "STATE", "FILES", "SIZE", "SMALL", "LAYOUT", "LOOKUP", "BEST", "NEW", "TRASH", "LAST OPTIMIZE")


def _cells(row: Row) -> tuple[str, ...]:
    def number(value: float | None) -> str:
        return "" if value is None else f"{value:.1f}".removesuffix(".0")

    last = "" if row.last_optimize is None else f"{row.last_optimize:%Y-%m-%d %H:%M}"
    return (
        row.table,
        row.state,
        number(row.files),
        _size(row.bytes),
        number(row.small_files),
        row.layout or "",
        number(row.mean_files),
        number(row.bound_files),
        _size(row.new_bytes),
        _size(row.trash_bytes),
        last,
    )


def _size(size: int | None) -> str:
    return "" if size is None else size_text(size)


def _table(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in rows)


def _seconds(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smhd])?", text.strip().lower())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is not a time such as 90m or 2h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def _bytes(text: str) -> int:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?", text.strip().lower())
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is not a size such as 500GB")
    return int(float(found[1]) * 1024 ** _SIZES[found[2]])
