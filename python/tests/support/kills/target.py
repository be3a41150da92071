"""A table that processes work on, and the remains of kills there."""

import json
import shutil
from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

from small_tables import SmallTable, write_file

from kills.statements import Known


@dataclass
class Target:
    """A table of `rounds` on disk, and the ids that it holds.

    `unsettled` says that no statement has ended since the last of its `kills`, and `unfinished` has the names of lock
    files that are truncated.
    """

    table: SmallTable
    ids: set[int] = field(init=False)
    kills: int = 0
    unfinished: set[str] = field(default_factory=set)
    unsettled: bool = False

    def __post_init__(self) -> None:
        self.ids = self.table.ids

    @property
    def root(self) -> Path:
        return self.table.root

    def append(self, ids: range, rng: Random) -> None:
        """Add a file. It is complete when it gets its name."""
        hidden = self.root / f".{ids.start}.tmp"
        write_file(hidden, ids)
        hidden.rename(rng.choice(self.table.folders) / f"added-{ids.start}.parquet")
        self.ids |= set(ids)

    @property
    def known(self) -> Known:
        return Known(self.table.source, len(self.table.folders), 16, root=str(self.root))

    def plain_ids(self) -> Counter[int]:
        return self.table.plain_ids()

    def left_over(self) -> list[str]:
        """What no finished operation leaves."""
        # A process that dies after it deleted the lock leaves an empty folder.
        left = self.table.leftovers(1000)
        return [name for name in left if name != "_zorder" or any((self.root / name).iterdir())]

    @property
    def is_exchanging(self) -> bool:
        """Whether a plain reader may see a row twice."""
        return bool(self._side("*.publishing"))

    def has(self, pid: int, operations: Collection[str]) -> bool:
        """Whether a process is in one of these phases."""
        return any(o and o["pid"] == pid and o["operation"] in operations for o in self._locks().values())

    @property
    def is_writing(self) -> bool:
        """Whether outputs of a job are there."""
        return bool(self._side("staging/*"))

    def killed(self, pid: int) -> tuple[str, str] | None:
        """The operation of a process here, and its phase."""
        for lock, owner in self._locks().items():
            if not owner and lock not in self.unfinished:
                self.unfinished.add(lock)
                return "unknown", "taking its lock"
            if owner and owner["pid"] == pid:
                operation = owner["operation"]
                phase = self._phase(operation, owner["operationId"])
                return self._strategy(owner["operationId"]) + operation, phase
        return None

    def _strategy(self, identity: str) -> str:
        """Whether an OPTIMIZE rewrites only some of the files, as far as there is a record."""
        records = (json.loads(p.read_text()) for p in self._side("_v*") if p.is_file() and p.suffix != ".vacuumed")
        own = (r for r in records if r.get("operationId") == identity)
        return "incremental " if any(r.get("metrics", {}).get("strategy") == "incremental" for r in own) else ""

    def _phase(self, operation: str, identity: str) -> str:
        for record in self._side("*.publishing"):
            of_another = json.loads(record.read_text())["operationId"] != identity
            return "exchanging files of an operation killed before" if of_another else "exchanging files"
        trash = (self.root.rglob(f"trash/{p.name.partition('-')[0]}-*/*") for p in self._side("*.vacuumed"))
        if operation == "VACUUM" and any(any(files) for files in trash):
            return "deleting"
        if any(json.loads(p.read_text())["operationId"] == identity for p in self._side("_v*.json")):
            return "cleaning up"
        if len(self._side("_lock-*")) > 1:
            return "cleaning up after an operation killed before"
        return "writing" if self._side(f"staging/_{identity}/*") or self._side("_tmp-*") else "with its lock"

    def _locks(self) -> dict[str, dict[str, Any]]:
        found = {}
        for lock in self._side("_lock-*"):
            try:
                text = lock.read_text()
            except FileNotFoundError:
                continue
            found[lock.name] = dict(json.loads(text)) if text.endswith("}") else {}
        return found

    def _side(self, pattern: str) -> list[Path]:
        return _found(self.root / "_zorder", pattern)

    def remove(self) -> None:
        shutil.rmtree(self.root)


def _found(folder: Path, pattern: str) -> list[Path]:
    try:
        return list(folder.glob(pattern))
    except FileNotFoundError:
        return []
