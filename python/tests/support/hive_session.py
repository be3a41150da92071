"""`hive_session.py <our jar>`, with a Hive metastore in its folder: what statements on Hive's own tables answer.

The last line has JSON: for each name of a statement its rows as objects, or `{"error": ..}`.
"""

import sys
from pathlib import Path

from answers import Answers, session


def main(jar: str) -> None:
    here = Path.cwd()
    settings = {
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(here / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={here}/metastore;create=true",
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={here}",
        "spark.hadoop.hive.exec.dynamic.partition.mode": "nonstrict",
    }
    spark = session(jar, settings)
    answers = Answers(spark)
    ask = answers.ask
    numbers = "SELECT /*+ REPARTITION(4) */ id, id * 7919 % 1000 AS a, 'k' || id % 50 AS s"
    for stored in ("parquet", "orc"):
        flat, parts, using = f"flat_{stored}", f"parts_{stored}", f"using_{stored}"
        spark.sql(f"CREATE TABLE {flat} (id BIGINT, a BIGINT, s STRING) STORED AS {stored}")
        spark.sql(f"INSERT INTO {flat} {numbers} FROM range(2000)")
        spark.sql(
            f"CREATE TABLE {parts} (id BIGINT, a INT, s STRING) PARTITIONED BY (day INT, r STRING) STORED AS {stored}"
        )
        spark.sql(f"INSERT INTO {parts} {numbers}, id % 2, IF(id % 2 = 0, 'x/y', NULL) FROM range(2000)")
        spark.sql(f"CREATE TABLE {using} (id BIGINT, a BIGINT, s STRING, day INT) USING {stored} PARTITIONED BY (day)")
        spark.sql(f"INSERT INTO {using} {numbers}, id % 2 FROM range(2000)")
        for name in (flat, parts, using, f"default.{using}"):
            ask(f"{name} optimize", f"OPTIMIZE {name} FULL ZORDER BY (a, s) OPTIONS ('num-files' = '8')")
            ask(f"{name} rows", f"SELECT count(*) AS n, sum(id) AS s FROM {name}")
            ask(f"{name} skipping", f"EXPLAIN SKIPPING SELECT * FROM {name} WHERE a = 737")
            ask(f"{name} point", f"SELECT id FROM {name} WHERE a = 737 ORDER BY id")
        # Hive itself appends a file, without the extension.
        spark.sql(f"INSERT INTO {flat} SELECT -1, 737, 's'")
        ask(f"{flat} point later", f"SELECT id FROM {flat} WHERE a = 737 ORDER BY id")
        spark.sql(f"INSERT OVERWRITE TABLE {parts} PARTITION (day = 0, r = 'x/y') SELECT -2, 737, 's'")
        ask(f"{parts} point later", f"SELECT id FROM {parts} WHERE a = 737 ORDER BY id")
        for name in (parts, using):
            ask(f"{name} where", f"OPTIMIZE {name} FULL WHERE day = 1 ZORDER BY (a) OPTIONS ('num-files' = '4')")
            # A partition outside of the table's folder.
            elsewhere = Path.cwd() / f"elsewhere_{name}"
            more = ", r = 'z'" if name == parts else ""
            spark.sql(f"ALTER TABLE {name} ADD PARTITION (day = 7{more}) LOCATION '{elsewhere}'")
            spark.sql(f"INSERT INTO {name} PARTITION (day = 7{more}) {numbers} FROM range(100)")
            ask(f"{name} outside", f"OPTIMIZE {name} FULL ZORDER BY (a) OPTIONS ('num-files' = '16')")
            ask(
                f"{name} outside files",
                f"SELECT count(DISTINCT f) AS n FROM (SELECT input_file_name() AS f FROM {name} WHERE day = 7)",
            )
            ask(f"{name} left out", f"OPTIMIZE {name} FULL WHERE day < 7 ZORDER BY (a) OPTIONS ('num-files' = '6')")
            ask(f"{name} rows there", f"SELECT count(*) AS n, sum(id) AS s FROM {name} WHERE day = 7 AND a < 1000")
            ask(f"{name} rows in all", f"SELECT count(*) AS n FROM {name}")
            ask(f"{name} index", f"CREATE OR REPLACE SKIPPING INDEX ON {name}")
            ask(f"{name} rows indexed", f"SELECT count(*) AS n, sum(id) AS s FROM {name} WHERE day = 7 AND a < 1000")
    spark.sql("CREATE TABLE text_table (id BIGINT) STORED AS TEXTFILE")
    ask("text", "OPTIMIZE text_table ZORDER BY (id)")
    # Hive's own reader instead of Spark's.
    spark.conf.set("spark.sql.hive.convertMetastoreParquet", "false")
    ask("unconverted reader before", "EXPLAIN SELECT count(*) FROM flat_parquet")
    ask("unconverted", "OPTIMIZE flat_parquet FULL ZORDER BY (id) OPTIONS ('num-files' = '4')")
    ask("unconverted reader", "EXPLAIN SELECT count(*) FROM flat_parquet")
    ask("unconverted rows", "SELECT id FROM flat_parquet WHERE a = 737 ORDER BY id")
    answers.tell()


if __name__ == "__main__":
    main(*sys.argv[1:])
