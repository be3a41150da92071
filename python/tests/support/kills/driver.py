"""A process that runs statements on tables without a pause, until it is killed: `driver.py <work> [<java options>]`.

It prints a line when it is warm, and reads a line with tables and a seed. Then it prints a line for each OPTIMIZE, and
for each error of a statement. It ends when its input ends.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def main(work: Path, java_options: str) -> None:
    """Run the statements of one table in a thread of its own."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from comparison import condition_of
    from local_session import SMALL, local_session
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException
    from small_tables import SmallTable

    from kills.statements import EXPECTED, statement

    spark = local_session(work, settings=SMALL | {"spark.driver.extraJavaOptions": java_options})
    jvm: Any = spark.sparkContext._jvm
    out = threading.Lock()

    def say(message: dict[str, Any]) -> None:
        with out:
            print(json.dumps(message), flush=True)

    def loop(session: SparkSession, root: Path, rng: Random) -> None:
        while True:
            sql = statement(root, rng)
            try:
                rows = session.sql(sql).collect()
                if sql.startswith("OPTIMIZE"):
                    say({"strategy": rows[0]["metrics"]["strategy"]["name"]})
            except (PySparkException, Py4JJavaError) as error:
                condition = condition_of(error)
                if condition not in EXPECTED:
                    say({"sql": sql, "error": condition, "message": str(error)[:3000]})

    # The first statement of each kind loads thousands of classes. Without this, most kills would hit the loading.
    own = SmallTable.write(work / "own", False)
    began = time.monotonic()
    spark.sql(own.optimize).collect()
    seconds = time.monotonic() - began
    for sql in (
        f"CREATE OR REPLACE SKIPPING INDEX ON {own.source}",
        f"RESTORE {own.source} TO VERSION AS OF 0",
        f"VACUUM {own.source} RETAIN 0 HOURS",
    ):
        spark.sql(sql).collect()
    say({"jvm": jvm.java.lang.ProcessHandle.current().pid(), "first": seconds})
    told = sys.stdin.readline()
    if not told:
        spark.stop()
        return
    work_to_do = json.loads(told)
    for i, table in enumerate(work_to_do["tables"]):
        root, seed = Path(table), f"{work_to_do['seed']}/{i}"
        threading.Thread(target=loop, args=(spark.newSession(), root, Random(seed)), daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main(Path(sys.argv[1]), " ".join(sys.argv[2:]))
