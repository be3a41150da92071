"""`make real-files FILES=<folder>`: try every file, and print what became of each."""

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from realfiles.trial import Outcome
from realfiles.worker import attempt, start


def _line(outcome: Outcome) -> str:
    parts = [outcome.file, "readable" if outcome.readable else "unreadable", outcome.verdict]
    details = [*outcome.failed, *([f"not kept: {outcome.lost}"] if outcome.lost else [])]
    return "\t".join([*parts, " | ".join([*details, *(outcome.refused if outcome.failed else [])])])


def main() -> int:
    """Try the files, and print a line for each and a table. Returns 1 when one failed."""
    parser = argparse.ArgumentParser(prog="make real-files", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--only", default="", help="only files whose path contains this")
    asked = parser.parse_args()
    root: Path = asked.folder.resolve()
    names = sorted(
        str(path.relative_to(root))
        for path in root.rglob("*")
        if path.suffix in (".parquet", ".orc") and path.is_file() and asked.only in str(path)
    )
    started = time.monotonic()
    seen: Counter[tuple[str, str]] = Counter()
    with tempfile.TemporaryDirectory(prefix="zorder-files-") as work:
        context = multiprocessing.get_context("spawn")
        processes = max(1, min(asked.processes, len(names)))
        with context.Pool(processes, start, (work,)) as pool:
            for outcome in pool.imap_unordered(attempt, [(str(root), name) for name in names]):
                print(_line(outcome), flush=True)
                seen["readable" if outcome.readable else "unreadable", outcome.verdict] += 1
    print()
    for (kind, verdict), files in sorted(seen.items()):
        print(f"{files:5} {kind}, {verdict}")
    print(f"{sum(seen.values()):5} files in {time.monotonic() - started:.0f} s")
    return 1 if any(verdict == "failed" for _, verdict in seen) else 0


if __name__ == "__main__":
    sys.exit(main())
