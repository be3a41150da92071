"""The commands of `spark-zorder` on a table's side folder: arguments, questions, exit codes."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING, Any

from spark_zorder._cli import nightly_commands, tool
from spark_zorder._cli.tool_text import told, trash_warning
from spark_zorder.errors import ToolError

if TYPE_CHECKING:
    Subparsers = argparse._SubParsersAction[argparse.ArgumentParser]

_CODES = "Exit codes: 0 done, or nothing to do; 1 failed; 2 wrong usage; 3 an owner that may live holds the lock."

_STATUS = """With a path: show who holds the lock, which operations are unfinished, and what is in the trash. With
--schema or --table: a line for each table, first those that an OPTIMIZE would gain most for. Changes nothing."""

_RECOVER = """Finish or undo what a dead process left unfinished, as the next statement on the table would. Does nothing
while an owner that may live holds the lock. If a folder is gone in which files were being exchanged, it settles all
others and names it. Then bring the folder back, or end the operation without it by --keep. If nothing tells which files
of a folder count, as in a copy of the table, it names both sides and changes nothing. Then choose with --keep."""

_KEEP = """the files that count where nothing else tells: those that the operation replaces, or its new ones. A folder
that has only one side whole keeps that side. Folders that are gone stay away"""

_UNLOCK = """Remove the locks of dead owners: their process is gone from this host, or their heartbeat is older than the
lock timeout. Then recover the table. If other locks remain, they stay, and the table is not recovered."""

_FORCE = """also remove the lock of an owner that may live. Its operation fails. Risk: a living owner notices this only
before its next step. It may be renaming a file, and this rename may happen during the recovery. Stop the owner's
process first if you can."""

_UNINSTALL = """Remove everything of spark-zorder from a table and its partitions: history, trash, statistics, locks.
The data files stay as they are. First shows what is in the trash, because RESTORE cannot bring it back afterwards.
Refuses while an operation is unfinished: run `recover` first. Leaves files that spark-zorder did not make, and lists
them."""


def add(commands: Subparsers) -> None:
    """Add the commands to the parser of the module."""
    status = _add(commands, "status", "show a table's unfinished operations and trash, or many tables", _STATUS)
    nightly_commands.add_selection(status)
    status.add_argument("--check", action="store_true", help="look into the footers of new files, too")
    status.set_defaults(run=_status)
    recover = _add(commands, "recover", "finish or undo what a dead process left unfinished", _RECOVER)
    recover.add_argument("--keep", choices=["old", "new"], default="", dest="flag", help=_KEEP)
    unlock = _add(commands, "unlock", "remove the locks of dead owners, then recover", _UNLOCK)
    unlock.add_argument("--force", action="store_const", const="force", default="", dest="flag", help=_FORCE)
    uninstall = _add(commands, "uninstall", "remove everything of spark-zorder from a table", _UNINSTALL)
    uninstall.add_argument("--yes", action="store_true", help="do not ask")
    uninstall.add_argument("--dry-run", action="store_true", help="only show what would be removed")
    uninstall.set_defaults(run=_uninstall)


def _add(commands: Subparsers, name: str, summary: str, description: str) -> argparse.ArgumentParser:
    parser = commands.add_parser(name, help=summary, description=description, epilog=_CODES)
    parser.add_argument(
        "path",
        nargs="?" if name == "status" else None,
        help="the table's folder: a local path (needs no session), or a URI (needs one)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--lock-timeout",
        type=int,
        default=60,
        metavar="SECONDS",
        help="the age of a heartbeat at which its owner counts as dead (default 60, as spark.zorder.lock.timeout)",
    )
    parser.set_defaults(run=_run)
    return parser


def check(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    """Refuse wrong arguments, with exit code 2."""
    if options.command == "status":
        many = bool(options.schema or options.table)
        if many == (options.path is not None):
            parser.error("status takes a path, or --schema or --table, and not both")
        if options.check and not many:
            parser.error("--check needs --schema or --table")


def _status(options: argparse.Namespace) -> int:
    return _run(options) if options.path is not None else nightly_commands.status(options)


def _run(options: argparse.Namespace) -> int:
    flag = getattr(options, "flag", "")
    try:
        if flag == "force" and not options.json:
            _warn_of_living(options)
        result = tool.run(options.command, options.path, options.lock_timeout, flag=flag)
    except ToolError as error:
        return _cannot(options, error)
    return _show(options, result)


def _warn_of_living(options: argparse.Namespace) -> None:
    for lock in tool.run("status", options.path, options.lock_timeout).get("locks", []):
        if lock["state"] in ("alive", "unknown"):
            where = "is in this host's process table" if lock["onThisHost"] else "may live on another host"
            owner = f"process {lock['pid']} on {lock['host']}" if "pid" in lock else "unknown"
            print(f"Warning: the owner of {lock['file']} ({owner}) {where}. Its operation fails now.", file=sys.stderr)


def _uninstall(options: argparse.Namespace) -> int:
    try:
        found = tool.run("status", options.path, options.lock_timeout)
        if found["exitCode"] != tool.DONE:
            return _show(options, found | {"command": "uninstall"})
        if not options.json:
            print(told(found))
        obstacle = _obstacle(found)
        if obstacle:
            return _show(options, obstacle | {"found": found})
        if not options.json:
            print(trash_warning(found))
        if options.dry_run:
            if options.json:
                print(json.dumps(found))
            return tool.DONE
        if not options.yes and not _agreed(options):
            print("Nothing was removed. `--yes` removes it without a question.", file=sys.stderr)
            return tool.USAGE
        result = tool.run("uninstall", options.path, options.lock_timeout)
    except ToolError as error:
        return _cannot(options, error)
    return _show(options, result | {"found": found})


def _obstacle(found: dict[str, Any]) -> dict[str, Any]:
    """The reason to remove nothing, as a result. Empty if there is none."""
    refused = {"command": "uninstall", "path": found["path"]}
    if found["state"] == "locked":
        message = "An owner that may live holds the lock. Nothing was removed. Wait until its operation ends."
        return refused | {"exitCode": tool.LOCKED, "error": "LOCKED", "message": message}
    if found["unfinished"]:
        message = "An operation is unfinished. Nothing was removed. Run `recover` first."
        return refused | {"exitCode": tool.FAILED, "error": "UNFINISHED", "message": message}
    return {}


def _agreed(options: argparse.Namespace) -> bool:
    if options.json or not sys.stdin.isatty():
        return False
    return input("Remove it? [y/N] ").strip().lower() in ("y", "yes")


def _show(options: argparse.Namespace, result: dict[str, Any]) -> int:
    if options.json:
        print(json.dumps(result))
    else:
        if "error" not in result or "actions" in result:
            text = told(result)
            if text:
                print(text)
        if "error" in result:
            print(result["message"], file=sys.stderr)
    return int(result["exitCode"])


def _cannot(options: argparse.Namespace, error: ToolError) -> int:
    if options.json:
        answer = {"command": options.command, "path": options.path, "exitCode": tool.FAILED, "error": "CANNOT_RUN"}
        print(json.dumps(answer | {"message": str(error)}))
    else:
        print(error, file=sys.stderr)
    return tool.FAILED
