"""`connect_client.py URL`: a client of Spark Connect without JVM and py4j. Its last line has what it found as JSON."""

import importlib.util
import io
import json
import os
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import docstrings
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from spark_zorder import (
    NoExtensionError,
    ZOrderTable,
    configure_spark,
    doctor,
    explain_skipping,
    repartition_by_zorder_range,
    show_clustering,
    show_operations,
)

WITHOUT_A_SESSION = ("NoJarError", "jar_path")
"""These need a pyspark or a jar on this side."""


def main() -> None:
    """Look at the server that the command line names."""
    os.environ["SPARK_REMOTE"] = sys.argv[1]
    found: dict[str, Any] = {
        "py4j": importlib.util.find_spec("py4j") is not None,
        "builder": dict(configure_spark(SparkSession.builder)._options),
    }
    spark = configure_spark(SparkSession.builder).getOrCreate()
    diagnosis = doctor(spark)
    found |= {"session": type(spark).__module__, "doctor": {f.check: [f.ok, f.detail] for f in diagnosis.findings}}
    found |= with_extension() if found["doctor"]["extension"][0] else {"errors": without_extension(spark)}
    spark.stop()
    print(json.dumps(found))


def with_extension() -> dict[str, Any]:
    """What each example prints that it should not, a result, a picture, and errors."""
    os.chdir(tempfile.mkdtemp())
    found: dict[str, Any] = {"examples": {}}
    for public in docstrings.PUBLIC:
        if public in WITHOUT_A_SESSION:
            continue
        names = copy_of_the_table()
        try:
            docstrings.run_example(public, names)
            found["examples"][public] = ""
        except AssertionError as error:
            found["examples"][public] = str(error)
    names = copy_of_the_table()
    spark, events = names["spark"], names["events"]
    before = events.clustering("user", "day")
    foreseen = events.optimize(["user", "day"], num_files=16, dry_run=True)
    result = events.optimize(["user", "day"], num_files=16)
    found["dry run"] = [foreseen.dry_run, foreseen.files_added, repr(foreseen).splitlines()[-1]]
    found["result"] = [isinstance(result.df, DataFrame), result.files_removed, result.files_added, result.df.count()]
    found["html"] = result._repr_html_()
    asked: dict[str, str | DataFrame] = {
        "text": "SELECT * FROM events WHERE user = 7",
        "frame": spark.table("events").where("user = 7"),
    }
    for name, query in asked.items():
        # Without a session, the text's is the active one.
        for explained in (explain_skipping(spark, query), explain_skipping(query)):
            found.setdefault(f"explained {name}", []).append([explained.files_total, explained.files_kept])
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    optimized = events.history(1).collect()[0].timestamp
    found["restored"] = [events.restore(0).files, events.restore(timestamp=optimized).files]
    spark.conf.unset("spark.sql.session.timeZone")
    found["plain"] = [bool(ZOrderTable.is_plain(spark, name)) for name in ("events", "nothing")]
    picture = io.BytesIO()
    events.plot_clustering("user", "day", before=before).savefig(picture, format="png")
    found["picture"] = [picture.getvalue()[:4].hex(), len(picture.getvalue()) > 10_000]
    found["hint"] = names["rows"].hint("HILBERT", 3, "user").selectExpr("spark_partition_id()").distinct().count()
    found["function"] = names["rows"].selectExpr("hex(zvalue(user, day)) AS z").orderBy("z").first().z
    found["errors"] = {
        "column": failure(lambda: events.optimize(["nobody"])),
        "option": failure(lambda: events.optimize(["user"], options={"files": 3})),
        "table": failure(lambda: ZOrderTable(spark, "nothing").describe_detail()),
        "version": failure(lambda: events.restore(99)),
        "hint": failure(lambda: repartition_by_zorder_range(names["rows"], 0, "user").collect()),
        "query": failure(lambda: explain_skipping(spark, "SELECT nobody FROM events")),
    }
    return found


def copy_of_the_table() -> dict[str, Any]:
    """The names of the package's docstring, after the table of an earlier example is gone."""
    session = SparkSession.builder.getOrCreate()
    session.sql("DROP TABLE IF EXISTS events")
    session.sql("DROP TABLE IF EXISTS clustered_events")
    return docstrings.prepared()


def without_extension(spark: SparkSession) -> dict[str, Any]:
    """What statements raise that the server does not know."""
    spark.sql("CREATE TABLE t USING parquet AS SELECT id FROM range(10)")
    t = ZOrderTable(spark, "t")
    statements: dict[str, Callable[[], object]] = {
        "optimize": lambda: t.optimize(["id"]),
        "create_skipping_index": t.create_skipping_index,
        "refresh_skipping_index": t.refresh_skipping_index,
        "drop_skipping_index": t.drop_skipping_index,
        "clear_skipping_memory": t.clear_skipping_memory,
        "describe_skipping_index": t.describe_skipping_index,
        "describe_clustering": t.describe_clustering,
        "clustering": lambda: t.clustering("id"),
        "plot_clustering": t.plot_clustering,
        "describe_history": t.describe_history,
        "describe_detail": t.describe_detail,
        "restore": lambda: t.restore(0),
        "vacuum": t.vacuum,
        "show_clustering": lambda: show_clustering(spark),
        "show_operations": lambda: show_operations(spark),
        "history": t.history,
        "detail": t.detail,
        "is_plain": lambda: ZOrderTable.is_plain(spark, "t"),
        "explain_skipping": lambda: explain_skipping(spark, "SELECT * FROM t"),
        "explain_skipping of a frame": lambda: explain_skipping(spark, spark.table("t")),
        "repartition_by_zorder_range": lambda: repartition_by_zorder_range(spark.range(9), 2, "id"),
    }
    return {name: failure(run) for name, run in statements.items()}


def failure(run: Callable[[], object]) -> list[str | None]:
    """The class, condition and message of what a call raises."""
    try:
        run()
    except NoExtensionError as error:
        return [type(error).__name__, None, str(error)]
    except PySparkException as error:
        return [type(error).__name__, error.getCondition(), str(error)]
    return ["", None, ""]


if __name__ == "__main__":
    main()
