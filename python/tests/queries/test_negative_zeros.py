"""OPTIMIZE writes files with -0.0 so that readers find it, though some look for the bits of 0.0."""

from pathlib import Path

import pytest
from pyarrow import orc, parquet
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

pytestmark = pytest.mark.test_rest

# Each column has -0.0 and no 0.0, but for `clean`, which has 0.0.
COLUMNS = """
    IF(id % 3 = 0, double('-0.0'), double(id % 7 - 7)) d,
    IF(id % 3 = 0, float('-0.0'), float(id % 7 - 7)) f,
    named_struct('x', IF(id % 3 = 0, double('-0.0'), double(id % 7 - 7)), 'clean', double(id % 7)) s,
    array(IF(id % 3 = 0, float('-0.0'), float(id % 7 - 7))) a,
    map('k', IF(id % 3 = 0, double('-0.0'), double(id % 7 - 7))) m,
    IF(id % 3 = 0, double('-0.0'), double(id % 7 - 7)) `dotted.name`,
    double(id % 7) clean, id % 5 n
"""
FILTERS = ("d = 0", "d >= 0", "d IN (0, 5)", "f = 0", "s.x = 0", "a[0] = 0", "m['k'] = 0", "`dotted.name` = 0")
ZEROS = {"d", "f", "s.x", "a.list.element", "m.key_value.value", "dotted.name"}

LITERALS = ("clean = -0.0D", "s.clean IN (-0.0D, 5.5D)")
"""They look for the bits of -0.0 where only 0.0 is."""


def counts(spark: SparkSession, path: Path, kind: str, skipping: str, filters: tuple[str, ...] = FILTERS) -> list[int]:
    spark.conf.set("spark.zorder.skipping.enabled", skipping)
    found = [spark.read.format(kind).load(str(path)).where(f).count() for f in filters]
    spark.conf.unset("spark.zorder.skipping.enabled")
    return found


def write(spark: SparkSession, path: Path, kind: str, options: dict[str, str]) -> None:
    rows = spark.sql(f"SELECT {COLUMNS} FROM range(300)").coalesce(2)
    rows.write.format(kind).options(**options).save(str(path))


@pytest.mark.parametrize("columnwise", ["true", "false"])
@pytest.mark.parametrize("version", ["v1", "v2"])
def test_zeros_get_no_dictionary(spark: SparkSession, tmp_path: Path, columnwise: str, version: str) -> None:
    path = tmp_path / "t"
    write(spark, path, "parquet", {"parquet.enable.dictionary": "false", "parquet.writer.version": version})
    assert counts(spark, path, "parquet", "false") == [100] * len(FILTERS)
    own = spark.newSession()
    own.conf.set("spark.zorder.write.columnwise", columnwise)
    own.conf.set("parquet.bloom.filter.enabled", "true")
    own.sql(f"OPTIMIZE parquet.`{path}` ZORDER BY (d, n) OPTIONS ('num-files' = '2')").collect()
    assert counts(spark, path, "parquet", "false") == [100] * len(FILTERS)
    assert counts(spark, path, "parquet", "true") == [100] * len(FILTERS)
    files = sorted(path.glob("*.parquet"))
    assert len(files) == 2
    with_zeros = 0
    for file in files:
        for name, has_dictionary, least, most in chunks(parquet.read_metadata(file)):
            number = name in ZEROS | {"clean", "s.clean"}
            zero = number and least <= 0 <= most
            with_zeros += zero
            assert has_dictionary == (not zero and (columnwise == "true" or not number)), (file, name)
    assert with_zeros >= len(ZEROS) + 2
    assert counts(spark, path, "parquet", "false", LITERALS) == [43, 43]


def test_columns_with_zeros_keep_the_dictionaries_of_all_old_files(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    write(spark, path, "parquet", {})
    spark.sql(f"OPTIMIZE parquet.`{path}` ZORDER BY (d, n) OPTIONS ('num-files' = '2')").collect()
    for file in path.glob("*.parquet"):
        has_dictionary = {name: has for name, has, _, _ in chunks(parquet.read_metadata(file))}
        assert has_dictionary["clean"]
        assert has_dictionary["s.clean"]
    assert counts(spark, path, "parquet", "true") == [100] * len(FILTERS)


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_floating_point_columns_lose_their_bloom_filters(spark: SparkSession, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "t"
    filters = {f"parquet.bloom.filter.enabled#{c}": "true" for c in ("d", "s.x", "n")}
    plain = {"parquet.enable.dictionary": "false", "orc.bloom.filter.columns": "d,s.x,n"}
    write(spark, path, kind, filters | plain)
    spark.sql(f"OPTIMIZE {kind}.`{path}` ZORDER BY (n) OPTIONS ('num-files' = '2')").collect()
    history = spark.sql(f"DESCRIBE HISTORY {kind}.`{path}`").first()
    assert history is not None
    assert history.operationMetrics["notKept"] == "Bloom filter of `d`; Bloom filter of `s`.`x`"
    assert counts(spark, path, kind, "false") == [100] * len(FILTERS)
    with pytest.raises(AnalysisException, match="columns of other types than BOOLEAN, FLOAT and DOUBLE"):
        spark.sql(f"OPTIMIZE {kind}.`{path}` FULL ZORDER BY (n) OPTIONS ('bloom-filter-columns' = 's.x')")


def chunks(metadata: parquet.FileMetaData) -> list[tuple[str, bool, float, float]]:
    """Of each chunk: its column, whether it has a dictionary, and its bounds if they are numbers."""
    groups = [metadata.row_group(g) for g in range(metadata.num_row_groups)]
    found = []
    for c in [g.column(i) for g in groups for i in range(g.num_columns)]:
        number = c.statistics.has_min_max and not isinstance(c.statistics.min, str)
        least, most = (c.statistics.min, c.statistics.max) if number else (1, 1)
        found.append((c.path_in_schema, c.has_dictionary_page, least, most))
    return found


@pytest.mark.parametrize("bloom", ["", "d, f, s.x"])
def test_orc_files_with_negative_zeros_answer_right(spark: SparkSession, tmp_path: Path, bloom: str) -> None:
    path = tmp_path / "t"
    write(spark, path, "orc", {"orc.row.index.stride": "0"})
    assert counts(spark, path, "orc", "false") == [100] * len(FILTERS)
    own = spark.newSession()
    own.conf.set("orc.bloom.filter.columns", bloom)
    own.sql(f"OPTIMIZE orc.`{path}` ZORDER BY (d, n) OPTIONS ('num-files' = '2')").collect()
    assert counts(spark, path, "orc", "false") == [100] * len(FILTERS)
    assert counts(spark, path, "orc", "true") == [100] * len(FILTERS)


def test_orc_files_with_negative_zeros_keep_statistics_that_readers_use(spark: SparkSession, tmp_path: Path) -> None:
    path = tmp_path / "t"
    write(spark, path, "orc", {})
    spark.sql(f"OPTIMIZE orc.`{path}` ZORDER BY (d, n) OPTIONS ('num-files' = '2')").collect()
    assert [orc.ORCFile(file).row_index_stride > 0 for file in path.glob("*.orc")] == [True, True]
    v2 = spark.newSession()
    v2.conf.set("spark.sql.sources.useV1SourceList", "")
    v2.conf.set("spark.sql.orc.aggregatePushdown", "true")
    rows = v2.read.orc(str(path))
    assert rows.selectExpr("count(*)", "count(d)", "min(n)", "max(n)").collect() == [
        rows.selectExpr("count(*)", "count(d)", "min(n + 0)", "max(n + 0)").collect()[0]
    ]
    assert rows.selectExpr("count(*)").collect() == [(rows.rdd.count(),)]
