"""Tables on S3 that are published through the catalog."""

from pathlib import Path

import pytest
from s3_server import Request, S3Server

pytestmark = pytest.mark.test_all

ROWS = 2000


@pytest.mark.parametrize("form", ["parquet", "orc"])
@pytest.mark.parametrize("parts", ["", "p"])
def test_a_switch_brings_late_files_over(server: S3Server, tmp_path: Path, form: str, parts: str) -> None:
    root = f"s3a://bucket/{form}{parts}"
    with server.spark(tmp_path / "ours") as spark:
        columns = f"(id BIGINT, a INT{', p STRING' if parts else ''}) USING {form}"
        spark.sql(f"CREATE TABLE t {columns} {'PARTITIONED BY (p)' if parts else ''} LOCATION '{root}'")
        part = ", concat('ü %', id % 2)" if parts else ""
        spark.sql(
            f"INSERT INTO t SELECT /*+ REPARTITION(3) */ id, CAST(abs(hash(id)) % 100 AS INT){part} FROM range({ROWS})"
        )
        spark.sql("OPTIMIZE t ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '6')")
        assert spark.ids("spark.table('t')") == (ROWS, ROWS)
        [explained] = spark.sql("EXPLAIN SKIPPING SELECT * FROM t WHERE a = 5")
        assert explained["files_kept"] < explained["files_total"]
        folder = f"{root}/p=ü %1" if parts else root
        folder = folder.replace("%", "%25") if parts else folder
        spark.run(
            f"spark.createDataFrame([(90001, 5)], 'id BIGINT, a INT').coalesce(1)"
            f".write.mode('append').format({form!r}).save({folder!r})"
        )
        assert spark.ids("spark.table('t')") == (ROWS + 1, ROWS + 1)
        spark.sql("OPTIMIZE t FULL ZORDER BY (a) OPTIONS ('num-files' = '6')")
        assert spark.ids("spark.table('t')") == (ROWS + 1, ROWS + 1)
        spark.sql("RESTORE t TO VERSION AS OF 0")
        assert spark.ids("spark.table('t')") == (ROWS + 1, ROWS + 1)
        spark.sql("VACUUM t RETAIN 0 HOURS")
        assert spark.ids("spark.table('t')") == (ROWS + 1, ROWS + 1)
        assert not server.open_uploads()
        left = [n for n in spark.run(f"result = files({root!r})") if "_lock-" in n or ".moving" in n or "_tmp-" in n]
        assert not left


def test_who_may_not_list_beside_the_table_reads_and_optimizes_it(server: S3Server, tmp_path: Path) -> None:
    root = "s3a://bucket/narrow"
    with server.spark(tmp_path / "narrow") as spark:
        spark.sql(f"CREATE TABLE narrow (id BIGINT, a INT, p INT) USING parquet PARTITIONED BY (p) LOCATION '{root}'")
        spark.sql("INSERT INTO narrow SELECT /*+ REPARTITION(3) */ id, id % 100, id % 2 FROM range(2000)")
        denied: list[str] = []

        def deny(request: Request) -> tuple[int, str] | None:
            if "narrow__zorder" not in request.key:
                return None
            denied.append(request.what)
            return 403, "AccessDenied"

        with server.disturbed(deny):
            for statement in ("SELECT id FROM narrow", "OPTIMIZE narrow ZORDER BY (a)", "SELECT id FROM narrow"):
                assert spark.sql(statement)
            assert spark.sql("SELECT count(*) AS n FROM narrow") == [{"n": ROWS}]
        assert denied, "nobody asked"
