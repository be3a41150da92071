"""The output of the commands of `spark-zorder` for people."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timezone
from typing import Any

from spark_zorder.sizes import size_text

_WIDTH = 12


def told(result: dict[str, Any]) -> str:
    """Format the result of a command as lines for people."""
    lines = {"status": _status, "recover": _recovered, "unlock": _unlocked, "uninstall": _uninstalled}
    return "\n".join(lines[str(result["command"])](result))


def _status(found: dict[str, Any]) -> Iterator[str]:
    yield found["path"]
    advice = {
        "quiet": "quiet: nothing is half done",
        "locked": "locked: an owner that may live is at work",
        "unfinished": f"unfinished: run `spark-zorder recover {found['path']}`",
    }
    yield _row("state", advice[found["state"]])
    yield _row("version", f"{found['version']}, {_count(found['operations'], 'operation')} in the history")
    for lock in found["locks"]:
        yield _row("lock", _lock(lock))
    for operation in found["unfinished"]:
        yield _row("unfinished", _unfinished(operation))
        for sentence in operation.get("unclear", []):
            yield _row("unclear", sentence)
    for version in found["trash"]:
        yield _row("trash", _trash(version))
    for folder in found["otherTrash"]:
        yield _row("trash", f"{folder['path']}: {_size(folder)}, named in no record")
    for folder in found["staging"]:
        yield _row("staging", f"{folder['path']}: {_size(folder)}")
    for index in found["indexes"]:
        yield _row("statistics", f"{index['file']}: {size_text(index['bytes'])}")
    for name in found["temporary"]:
        yield _row("temporary", name)
    for path in found["otherTables"]:
        yield _row("other table", path)


def _recovered(done: dict[str, Any]) -> Iterator[str]:
    if done["actions"] is None:
        yield f"{done['path']}: recovered if that was needed. The log of the server shows what was done."
    elif done["actions"]:
        yield done["path"]
        yield from (_row("recovery", action) for action in done["actions"])
    elif done["exitCode"] == 0:
        yield f"{done['path']}: nothing is half done"


def _unlocked(done: dict[str, Any]) -> Iterator[str]:
    if not done["removed"] and not done["kept"] and not done["actions"]:
        yield f"{done['path']}: there is no lock"
        return
    yield done["path"]
    for lock in done["removed"]:
        yield _row("removed", _lock(lock))
    for lock in done["kept"]:
        yield _row("kept", _lock(lock))
    for action in done["actions"]:
        yield _row("recovery", action)


def _uninstalled(done: dict[str, Any]) -> Iterator[str]:
    yield done["path"]
    files = _size({"files": done["removedFiles"], "bytes": done["removedBytes"]})
    yield _row("removed", f"{files} of the trash, {_count(done['removedRecords'], 'record')} of the history")
    for left in done["left"]:
        yield _row("left", f"{left['path']}: {left['reason']}")


def trash_warning(found: dict[str, Any]) -> str:
    """Warn of the files that an uninstall deletes for good."""
    trash = f"{_count(found['trashFiles'], 'file')} ({size_text(found['trashBytes'])}) in the trash"
    return (
        f"An uninstall removes {trash}, the history and the statistics. RESTORE cannot go back to any version then. "
        "The data files stay as they are."
    )


def _row(name: str, text: str) -> str:
    return f"  {name:<{_WIDTH}}{text}"


def _lock(lock: dict[str, Any]) -> str:
    owner = (
        f"{lock['operation']} {lock['operationId']} of process {lock['pid']} on {lock['host']}"
        if "operation" in lock
        else "an owner that cannot be read"
    )
    here = " (it is in this host's process table)" if lock["onThisHost"] else ""
    return f"{lock['state']}: {owner}{here}, heartbeat {lock['heartbeatAgeMillis'] / 1000:.0f} s ago, {lock['file']}"


def _unfinished(found: dict[str, Any]) -> str:
    if "operation" not in found:
        return f"{found['file']}: {found.get('fault', 'it cannot be read')}"
    what = f"{found['file']}: {found['operation']} by {found['user']} at {_time(found['timestamp'])}"
    if found["state"] == "pending":
        return f"{what}; it has not changed any file of the table; a recovery undoes it"
    if found["state"] == "undoing":
        return f"{what}; the files of the table are back in place; a recovery removes the rest"
    missing = f", {_count(found['missing'], 'file')} missing" if found["missing"] else ""
    return (
        f"{what}; {found['retired']} of {found['inputs']} inputs are in the trash, "
        f"{found['published']} of {found['outputs']} outputs are in the table{missing}; a recovery {found['recovery']}"
    )


def _trash(found: dict[str, Any]) -> str:
    what = f"version {found['version']}: {_size(found)}"
    if "operation" not in found:
        return f"{what} of an operation that was undone"
    if found["state"] == "vacuumed":
        return f"{what} that VACUUM has not deleted yet"
    return f"{what} that {found['operation']} replaced; VACUUM keeps them for RESTORE until {_time(found['keptUntil'])}"


def _size(found: dict[str, Any]) -> str:
    return f"{_count(found['files'], 'file')}, {size_text(found['bytes'])}"


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def _time(millis: int) -> str:
    return datetime.fromtimestamp(millis / 1000, timezone.utc).strftime("%Y-%m-%d %H:%M:%S UTC")
