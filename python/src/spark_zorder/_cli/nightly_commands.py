"""The commands of `spark-zorder` for many tables: arguments, sessions, output."""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from spark_zorder._cli import nightly, nightly_session, tool
from spark_zorder._cli.nightly_outcome import Outcome, Selected, as_json, exit_code, told
from spark_zorder._cli.nightly_output import Progress, say, status_table, table
from spark_zorder.errors import NoExtensionError, ToolError, condition_of, errors_of_spark
from spark_zorder.names import quote_name

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_CODES = "Exit codes: 0 done, or nothing to do; 1 some table failed; 2 wrong usage; 3 all tables are locked."

_OPTIMIZE = """Optimize the tables that need it, most gain for each byte first, by `OPTIMIZE` without any words: with
the layout of the last `OPTIMIZE`, or that of the table properties. A table that fails does not stop the others."""

_VACUUM = "Delete the replaced files of all tables that are old enough, as `VACUUM` does."

_HISTORY = "Show the operations on a table, the newest first, as `DESCRIBE HISTORY` does."

# As shells tell them.
_SIGINT, _SIGTERM = 130, 143

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
    for argument, meaning in (("--schema", "a database; repeatable"), ("--table", "only this table; repeatable")):
        parser.add_argument(argument, action="append", type=_name, default=[], metavar="NAME", help=meaning)
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
    if options.check:
        rows = nightly.checked(spark, rows)
    if not rows:
        _hint_at_catalog(spark)
    if options.json:
        say(json.dumps([told(row) for row in rows]))
    else:
        say(status_table(rows))
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
        progress=_progress(options),
    )
    return _end(spark, options, outcomes)


def _vacuum(options: argparse.Namespace) -> int:
    return _with_session(options, _run_vacuum)


def _run_vacuum(spark: SparkSession, options: argparse.Namespace) -> int:
    outcomes = nightly.vacuum(
        spark,
        _selected(options),
        retain_hours=options.retain_hours,
        dry_run=options.dry_run,
        progress=_progress(options),
    )
    return _end(spark, options, outcomes)


def _history(options: argparse.Namespace) -> int:
    return _with_session(options, _run_history)


def _run_history(spark: SparkSession, options: argparse.Namespace) -> int:
    from spark_zorder.table import ZOrderTable

    path = options.table.startswith(("/", "'")) or "://" in options.table
    target = ZOrderTable.for_path(spark, options.table.strip("'")) if path else ZOrderTable(spark, options.table)
    rows = target.describe_history(options.limit).collect()
    if options.json:
        say(json.dumps([row.asDict(recursive=True) for row in rows], default=str))
    else:
        head = ("VERSION", "TIME", "OPERATION", "STATE", "FILES")
        say(table([head, *map(_operation, rows)]))
    return tool.DONE


def _operation(row: Row) -> tuple[str, ...]:
    metrics = row.operationMetrics or {}
    files = f"{metrics.get('numRemovedFiles', '?')} → {metrics.get('numAddedFiles', '?')}"
    return (str(row.version), f"{row.timestamp:%Y-%m-%d %H:%M:%S}", row.operation, row.state, files)


def _with_session(options: argparse.Namespace, run: Any) -> int:
    _stop_on_sigterm()
    # From the environment if it is secret: an address may have a token in it.
    remote = options.remote or os.environ.get("SPARK_REMOTE")
    spark: SparkSession | None = None
    try:
        spark = nightly_session.start(options.conf, remote)
        return int(run(spark, options))
    except _cannot_run() as error:
        message = nightly_session.words_of(error)
        if condition_of(error) == "PARSE_SYNTAX_ERROR":
            message = nightly_session.words_without_extension(remote)
        if options.json:
            say(json.dumps({"exitCode": tool.FAILED, "error": "CANNOT_RUN", "message": message}))
        else:
            say(message, sys.stderr)
        return tool.FAILED
    except (KeyboardInterrupt, _Stopped) as stop:
        if spark is not None:
            nightly_session.interrupt(spark)
        say("Stopped. The next statement on a table undoes what is not finished there.", sys.stderr)
        if isinstance(stop, _Stopped):
            # The signal broke a call into the JVM off. An orderly exit would wait for its answer.
            sys.stdout.flush()
            os._exit(_SIGTERM)
        return _SIGINT


def _cannot_run() -> tuple[type[Exception], ...]:
    return (ToolError, NoExtensionError, *errors_of_spark())


class _Stopped(BaseException):
    """SIGTERM came."""


def _stop_on_sigterm() -> None:
    def stop(number: int, frame: object) -> None:
        raise _Stopped

    # Only the main thread may set a handler.
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


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


def _progress(options: argparse.Namespace) -> Progress:
    # With --json the lines go beside the output.
    return Progress(sys.stderr if options.json else sys.stdout)


def _hint_at_catalog(spark: SparkSession) -> None:
    """Say why there may be no tables: a catalog in memory has none of other sessions."""
    if spark.conf.get("spark.sql.catalogImplementation", None) == "in-memory":
        print(
            "The catalog of this session is in memory, so it has no tables of other sessions. For those of a Hive "
            "metastore add --conf spark.sql.catalogImplementation=hive",
            file=sys.stderr,
        )


def _end(spark: SparkSession, options: argparse.Namespace, outcomes: list[Outcome]) -> int:
    code = exit_code(outcomes)
    if not outcomes:
        _hint_at_catalog(spark)
    if options.json:
        say(json.dumps({"exitCode": code, "tables": [as_json(outcome) for outcome in outcomes]}))
        return code
    for outcome in outcomes:
        if outcome.message.startswith("error: "):
            say(f"{outcome.table}: failed. {outcome.message}")
    if not outcomes:
        say("Nothing to do.")
    return code


def _name(text: str) -> str:
    try:
        quote_name(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return text


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
