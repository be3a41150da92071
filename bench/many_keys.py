"""The `moto` server of the tests, which can hold a million keys. bench/listing.py starts it.

A PUT of `_copies` with `FOLDERS FILES` copies one file of `t/p=0/` so often that the table `t` has so many folders, and
each of the others so many files. A listing finds its keys by a binary search, and equal pages are written once. The
server as it is looks at all keys of a bucket for each page, and takes 0.16 s to write it.
"""

import bisect
import copy
import hashlib
import sys
from typing import Any

from moto.core.responses import ActionResult
from moto.s3.models import FakeDeleteMarker, S3Backend
from moto.server import main

ORIGINAL_PUT = S3Backend.put_object
ORIGINAL_ANSWER = ActionResult.execute_result
_sorted: dict[int, tuple[list[Any], list[str]]] = {}


def _names(bucket: Any) -> list[str]:
    """The names of a bucket's keys in order. They are sorted again when the names are others."""
    now = list(dict.keys(bucket.keys))
    known = _sorted.get(id(bucket))
    if known is None or known[0] != now:
        _sorted[id(bucket)] = known = (now, sorted(now))
    return known[1]


def put_object(
    self: S3Backend,
    bucket_name: str,
    key_name: str,
    value: bytes,
    *args: Any,
    **kwargs: Any,
) -> Any:
    """Put an object, or make the copies that the name `_copies` asks for."""
    if key_name == "_copies":
        folders, files = (int(word) for word in value.split())
        bucket = self.get_bucket(bucket_name)
        first = next(k for n, k in bucket.keys.items() if n.startswith("t/p=0/") and n.endswith(".parquet"))
        for folder in range(1, folders):
            for file in range(files):
                made = copy.copy(first)
                made.name = f"t/p={folder}/part-{file:05d}.parquet"
                bucket.keys[made.name] = made
    return ORIGINAL_PUT(self, bucket_name, key_name, value, *args, **kwargs)


def list_objects_v2(
    self: S3Backend, bucket: Any, prefix: str | None, delimiter: str | None, continuation_token: str | None,
    start_after: str | None, max_keys: int,
) -> Any:  # fmt: skip
    """A page of a listing, as S3 defines it: of at most 1,000 keys, whatever a client asks for."""
    max_keys = min(max_keys, 1000)
    after = self._pagination_tokens.get(continuation_token) if continuation_token else start_after
    names, prefix = _names(bucket), prefix or ""
    at = max(
        bisect.bisect_left(names, prefix),
        bisect.bisect_right(names, after) if after else 0,
    )
    if after and delimiter and after.endswith(delimiter):
        at = max(at, bisect.bisect_left(names, after[:-1] + chr(ord(after[-1]) + 1)))
    found: list[Any] = []
    while at < len(names) and names[at].startswith(prefix) and len(found) <= max_keys:
        inner = names[at][len(prefix) :]
        if delimiter and delimiter in inner:
            folder = prefix + inner.split(delimiter)[0] + delimiter
            found.append(folder)
            at = bisect.bisect_left(names, folder[:-1] + chr(ord(folder[-1]) + 1))
        else:
            key = bucket.keys[names[at]]
            if not isinstance(key, FakeDeleteMarker):
                found.append(key)
            at += 1
    return self._truncate_result(found, max_keys)


_written: dict[bytes, Any] = {}


def execute_result(self: ActionResult, context: Any) -> Any:
    """The answer of a request; that of a listing as it was written when it had the same keys, sizes and times."""
    if not isinstance(self.result, dict) or "Contents" not in self.result:
        return ORIGINAL_ANSWER(self, context)
    page = hashlib.sha256(repr(self.result).encode()).digest()
    if page not in _written:
        _written[page] = ORIGINAL_ANSWER(self, context)
    status, headers, body = _written[page]
    return status, dict(headers), body


ActionResult.execute_result = execute_result  # type: ignore[method-assign]
S3Backend.put_object = put_object  # type: ignore[method-assign]
S3Backend.list_objects_v2 = list_objects_v2  # type: ignore[method-assign]

if __name__ == "__main__":
    main(sys.argv[1:])
