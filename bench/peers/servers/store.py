"""Serves an object store in memory with files in it. The interpreter that has moto runs it.

`python store.py PORT FOLDERS*FILES ..` answers at the port once it holds the files.
"""

from __future__ import annotations

import sys
import threading

from moto.s3.models import s3_backends
from moto.server import ThreadedMotoServer

BUCKET = "bucket"


def main() -> None:
    """Serve until the process is killed."""
    port, *shapes = sys.argv[1:]
    backend = s3_backends["123456789012"]["aws"]
    backend.create_bucket(BUCKET, "us-east-1")
    for shape in shapes:
        folders, files = map(int, shape.split("*"))
        for d in range(folders):
            for f in range(files):
                backend.put_object(BUCKET, f"{folders}-{files}/p={d}/part-{f:05d}.parquet", b"x")
    ThreadedMotoServer(ip_address="127.0.0.1", port=int(port), verbose=False).start()
    threading.Event().wait()


if __name__ == "__main__":
    main()
