"""A table in an object store that processes work on, and the remains of kills there."""

import io
import json
import re
import urllib.parse
from collections import Counter
from dataclasses import dataclass, field
from random import Random
from typing import Any

import pyarrow.parquet as pq
from s3_server import BUCKET, S3Server
from small_tables import rows_of

from kills.statements import Known

ROWS = 40
"""The rows of each file."""

MARKS = ("/_exchange", ".publishing", "/_staging-", "/_lock-", "__magic", "/_tmp-")
"""Parts of keys that no finished operation leaves."""


@dataclass
class S3Table:
    """A table of `rounds` on S3: a folder of three files, or of two partitions of three files each."""

    server: S3Server
    name: str
    partitioned: bool
    ids: set[int] = field(default_factory=set)
    kills: int = 0
    unsettled: bool = False

    def __post_init__(self) -> None:
        for f, folder in enumerate(self.folders):
            for i in range(3):
                first = (f * 3 + i) * ROWS
                self.put(folder, range(first, first + ROWS))

    @property
    def folders(self) -> list[str]:
        return [f"{self.name}/p=1", f"{self.name}/p=2"] if self.partitioned else [self.name]

    @property
    def known(self) -> Known:
        """Statements run in a process that has no way to the server's keys but S3A."""
        source, folders = f"parquet.`s3a://{BUCKET}/{self.name}`", len(self.folders)
        return Known(source, folders, 5, size=36_000 * folders, newest=self._newest())

    @property
    def is_exchanging(self) -> bool:
        return any(key.endswith(".publishing") for key in self.keys())

    def append(self, ids: range, rng: Random) -> None:
        self.put(rng.choice(self.folders), ids)

    def put(self, folder: str, ids: range) -> None:
        out = io.BytesIO()
        pq.write_table(rows_of(ids), out)
        self.server.ask("PUT", f"/{BUCKET}/{folder}/added-{ids.start}.parquet", out.getvalue())
        self.ids |= set(ids)

    def keys(self) -> list[str]:
        found: list[str] = []
        after = ""
        while True:
            query = f"list-type=2&prefix={urllib.parse.quote(self.name)}/&start-after={urllib.parse.quote(after)}"
            page = re.findall("<Key>(.*?)</Key>", self.server.ask("GET", f"/{BUCKET}?{query}").decode())
            if not page:
                return found
            found += page
            after = page[-1]

    def get(self, key: str) -> bytes:
        return self.server.ask("GET", f"/{BUCKET}/{urllib.parse.quote(key)}")

    def plain_ids(self) -> Counter[int]:
        found: Counter[int] = Counter()
        for key in self.keys():
            if not any(part.startswith(("_", ".")) for part in key.split("/")):
                found.update(pq.read_table(io.BytesIO(self.get(key)), columns=["id"]).column("id").to_pylist())
        return found

    def left_over(self) -> list[str]:
        uploads = [f"upload of {key}" for key in self.server.open_uploads() if key.startswith(f"{self.name}/")]
        return [key for key in self.keys() if any(mark in key for mark in MARKS)] + uploads

    def _newest(self) -> int:
        """The version of the table."""
        found = re.findall(rf"^{re.escape(self.name)}/_zorder/_v(\d+)", "\n".join(self.keys()), re.MULTILINE)
        return max(map(int, found), default=0)

    def killed(self, pid: int) -> tuple[str, str] | None:
        keys = self.keys()
        for key in keys:
            if "/_lock-" in key:
                owner = json.loads(self.get(key))
                if owner["pid"] == pid:
                    return str(owner["operation"]), self._phase(keys, owner["operationId"], str(owner["operation"]))
        return None

    def _record(self, key: str) -> dict[str, Any]:
        return dict(json.loads(self.get(key)))

    def _phase(self, keys: list[str], identity: str, operation: str) -> str:
        records = [key for key in keys if re.search(r"/_v\d+[^/]*\.(json|publishing)$", key)]
        own = [key for key in records if self._record(key).get("operationId") == identity]
        if any(key.endswith(".json") for key in own):
            return "cleaning up"
        if any(key.endswith(".publishing") for key in records):
            return "exchanging files" if own else "exchanging files of an operation killed before"
        if any(f"-{identity}/" in key for key in keys if "/trash/" in key):
            return "copying to the trash"
        if any(f"/_staging-{identity}" in key for key in keys):
            open_ = any(identity in key for key in self.server.open_uploads() if key.startswith(f"{self.name}/"))
            return "with open uploads" if open_ else "with its folders marked"
        if operation == "VACUUM" and any(key.endswith(".vacuumed") for key in keys):
            return "deleting"
        return "with its lock"

    def remove(self) -> None:
        for key in self.keys():
            self.server.ask("DELETE", f"/{BUCKET}/{urllib.parse.quote(key)}")
