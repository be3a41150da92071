"""Counts the requests of statements on S3: `make bench-requests`.

A server of S3 runs on this machine, and a proxy before it counts. Writes bench/results/requests-s3-<date>.md.
"""

from __future__ import annotations

import datetime
import sys
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python" / "tests" / "support"))

from s3_server import BUCKET, S3Server, s3_server  # noqa: E402
from spark_process import SparkProcess  # noqa: E402

FILES = (10, 20, 60, 120)
FOLDERS = 5
ROWS = 6_000


@dataclass
class Case:
    """A table, and the requests of each statement.

    Attributes:
        files: The number of its files.
        folders: The number of folders that have them.
        asked: The number of files that `OPTIMIZE` is asked for.
        by_kind: The requests of `OPTIMIZE` by kind.
    """

    files: int
    folders: int
    asked: int
    by_kind: Counter[str] = field(default_factory=Counter)
    counts: dict[str, int] = field(default_factory=dict)
    added: int = 0

    @property
    def source(self) -> str:
        """The table's name in a statement."""
        return f"parquet.`s3a://{BUCKET}/f{self.files}-{self.folders}-{self.asked}`"

    def write(self, spark: SparkProcess) -> None:
        """Write the table."""
        root = self.source.split("`")[1]
        for folder in range(self.folders):
            rows = ROWS // self.folders
            target = f"{root}/p={folder}" if self.folders > 1 else root
            spark.run(
                f"spark.range({folder * rows}, {(folder + 1) * rows}).selectExpr('id', 'hash(id) % 1000 AS a')"
                f".repartition({self.files // self.folders}).write.parquet({target!r})\nresult = None"
            )

    def change(self, server: S3Server, spark: SparkProcess) -> None:
        """Run the statements that change the table."""
        server.counted()
        [row] = spark.sql(f"OPTIMIZE {self.source} ZORDER BY (a) OPTIONS ('num-files' = '{self.asked}')")
        self.by_kind = Counter(r.what for r in server.counted())
        self.counts["OPTIMIZE"] = self.by_kind.total()
        self.added = row["metrics"]["numFilesAdded"]
        spark.sql(f"RESTORE {self.source} TO VERSION AS OF 0")
        self.counts["RESTORE"] = len(server.counted())
        spark.sql(f"RESTORE {self.source} TO VERSION AS OF 1")
        server.counted()
        spark.sql(f"VACUUM {self.source} RETAIN 0 HOURS")
        self.counts["VACUUM"] = len(server.counted())

    def line(self) -> str:
        """Its row of the page."""
        counts = self.counts
        return (
            f"| {self.files} | {self.folders} | {self.added} | **{counts['OPTIMIZE']}** | {12 * self.files + 50} | "
            f"{counts['RESTORE']} | {counts['VACUUM']} | {counts['without']} | {counts['with']} |\n"
        )


def select(server: S3Server, work: Path, cases: list[Case], *, extension: bool) -> None:
    """Count the requests of a query of each table, in one process."""
    with server.spark(work, extension=extension) as spark:
        spark.run("spark.range(1).count()\nresult = None")
        for case in cases:
            server.counted()
            spark.sql(f"SELECT count(*) FROM {case.source} WHERE a = 5")
            case.counts["with" if extension else "without"] = len(server.counted())


def main() -> None:
    """Count, and write the page."""
    cases = [Case(files, folders, max(folders, files // 5)) for folders in (1, FOLDERS) for files in FILES]
    # As many new files as old ones.
    cases.append(Case(60, 1, 60))
    first = Case(10, 1, 3)
    with tempfile.TemporaryDirectory(prefix="zorder-requests-") as name, s3_server() as server:
        work = Path(name)
        with server.spark(work / "writer", extension=False) as writer:
            for case in [first, *cases]:
                case.write(writer)
        with server.spark(work / "changes") as spark:
            # The first statement asks the store what it can do. It is of no interest otherwise.
            first.change(server, spark)
            for case in cases:
                case.change(server, spark)
                print(case, flush=True)
        select(server, work / "without", cases, extension=False)
        select(server, work / "with", cases, extension=True)
    date = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    kinds = sorted({kind for case in cases for kind in case.by_kind})
    text = f"""# Requests on S3, {date}

`make bench-requests`: Spark 4.3 with S3A of Hadoop 3.5, and a `moto` server behind a proxy that counts.
`OPTIMIZE` keeps the old files for `RESTORE`. The first statement of a process also asks the store
what it can do, with eight more requests. A heartbeat of the lock is three requests.
`SELECT` is a lookup by the clustered column in a process that has not read the table.

| files | folders | new files | OPTIMIZE | limit, 12 F + 50 | RESTORE | VACUUM | SELECT without us | with us |
|---|---|---|---|---|---|---|---|---|
{"".join(case.line() for case in cases)}
The requests of `OPTIMIZE` by kind:

| files | folders | new files | {" | ".join(kinds)} |
|---|---|---|{"---|" * len(kinds)}
"""
    for case in cases:
        values = " | ".join(str(case.by_kind[kind]) for kind in kinds)
        text += f"| {case.files} | {case.folders} | {case.added} | {values} |\n"
    (ROOT / "bench" / "results" / f"requests-s3-{date}.md").write_text(text)


if __name__ == "__main__":
    main()
