"""Works in a JVM whose time zone has daylight saving: `berlin.py <jar> optimize|write <folder>`."""

import sys

from answers import Answers, session

jar, work, folder = sys.argv[1:]
spark = session(jar, {"spark.driver.extraJavaOptions": "-Duser.timezone=Europe/Berlin"})
answers = Answers(spark)
if work == "optimize":
    answers.ask("optimize", f"OPTIMIZE orc.`{folder}` ZORDER BY (k) OPTIONS ('num-files' = 1)")
else:
    rows = "VALUES (1, TIMESTAMP '2020-10-25 02:30:00'), (2, TIMESTAMP '2020-10-26 02:30:00') AS v(k, t)"
    answers.ask("write", f"INSERT OVERWRITE DIRECTORY '{folder}' USING orc SELECT /*+ REPARTITION(2) */ * FROM {rows}")
answers.tell()
spark.stop()
