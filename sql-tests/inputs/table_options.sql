-- Options of a table that choose files, or find columns by position, are refused. Others are taken.
-- since Spark 4.3
CREATE TABLE plain USING parquet AS SELECT /*+ REPARTITION(3) */ id, id AS a FROM range(60);
CREATE TABLE by_other_case (id BIGINT, a BIGINT) USING parquet OPTIONS ('PATHGLOBFILTER' '*.snappy.parquet') LOCATION '${dir}/plain';
CREATE TABLE by_age (id BIGINT, a BIGINT) USING parquet OPTIONS ('modifiedAfter' '2000-01-01T00:00:00') LOCATION '${dir}/plain';
CREATE TABLE careless (id BIGINT, a BIGINT) USING parquet OPTIONS ('ignoreCorruptFiles' 'TRUE') LOCATION '${dir}/plain';
CREATE TABLE by_segment (id BIGINT, a BIGINT) USING parquet OPTIONS ('ignoredPathSegmentRegex' '^[.]') LOCATION '${dir}/plain';
CREATE TABLE by_class (id BIGINT, a BIGINT) USING parquet OPTIONS
  ('mapreduce.input.pathFilter.class' 'org.apache.hadoop.mapred.Utils$OutputFileUtils$OutputFilesFilter') LOCATION '${dir}/plain';
CREATE TABLE by_position (id BIGINT, a BIGINT) USING parquet OPTIONS ('parquet.column.index.access' 'true') LOCATION '${dir}/plain';
--! snapshot plain
OPTIMIZE by_other_case ZORDER BY (a);
OPTIMIZE by_age ZORDER BY (a);
OPTIMIZE careless ZORDER BY (a);
OPTIMIZE by_segment ZORDER BY (a);
OPTIMIZE by_class ZORDER BY (a);
OPTIMIZE by_position ZORDER BY (a);
--! unchanged
--! forget
CREATE TABLE taken (id BIGINT, at TIMESTAMP) USING parquet OPTIONS ('recursiveFileLookup' 'false', 'ignoreMissingFiles' 'false',
  'mergeSchema' 'true', 'datetimeRebaseMode' 'CORRECTED', 'int96RebaseMode' 'LEGACY');
INSERT INTO taken SELECT /*+ REPARTITION(3) */ id, TIMESTAMP'1500-01-01' + make_dt_interval(CAST(id AS INT)) FROM range(60);
SELECT count(*), sum(hash(id, at)) FROM taken;
OPTIMIZE taken ZORDER BY (id) OPTIONS ('num-files' = '2');
SELECT count(*), sum(hash(id, at)) FROM taken;

-- TIME has the digits that Spark noted in its files, and no fewer
SET spark.sql.timeType.enabled = true;
CREATE TABLE t (id BIGINT, s STRUCT<at: TIME(0)>) USING parquet;
INSERT INTO t SELECT /*+ REPARTITION(3) */ id, named_struct('at', CAST('12:34:56.789' AS TIME(0))) FROM range(60);
OPTIMIZE t FULL ZORDER BY (id) OPTIONS ('num-files' = '2');
OPTIMIZE t FULL ZORDER BY (id) OPTIONS ('num-files' = '2');
CREATE TABLE fine USING orc AS SELECT /*+ REPARTITION(2) */ id, named_struct('at', CAST('12:34:56.789' AS TIME(3))) AS s FROM range(9);
CREATE TABLE coarse (id BIGINT, s STRUCT<at: TIME(2)>) USING orc LOCATION '${dir}/fine';
--! snapshot fine
OPTIMIZE coarse ZORDER BY (id);
--! unchanged
OPTIMIZE fine FULL ZORDER BY (id) OPTIONS ('num-files' = '2');
SELECT count(*), min(s.at), max(s.at) FROM fine;
RESET spark.sql.timeType.enabled;

-- The messages about timestamps in nanoseconds are true
SET spark.sql.timestampNanosTypes.enabled = true;
CREATE TABLE nanos (id BIGINT, at TIMESTAMP_NTZ(9)) USING parquet;
INSERT INTO nanos SELECT /*+ REPARTITION(3) */ id, TIMESTAMP_NTZ'2020-01-01' FROM range(60);
OPTIMIZE nanos ZORDER BY (at);
OPTIMIZE nanos ZORDER BY (id);
RESET spark.sql.timestampNanosTypes.enabled;

-- DESCRIBE shows the columns that it is asked for
CREATE TABLE columns (id BIGINT, a INT, s STRUCT<x: INT, `y z`: STRING>) USING orc;
INSERT INTO columns SELECT id, CAST(id AS INT), struct(CAST(id AS INT), 'w') FROM range(0, 9, 1, 3);
CREATE SKIPPING INDEX ON columns;
DESCRIBE SKIPPING INDEX ON columns (A);
DESCRIBE SKIPPING INDEX ON columns (s.`y z`, id);
DESCRIBE SKIPPING INDEX ON columns (s);
DESCRIBE SKIPPING INDEX ON columns (b);
-- Statistics of columns that the index lacks come from the footers
DESCRIBE CLUSTERING columns (id, a);
CREATE OR REPLACE SKIPPING INDEX ON columns (a);
DESCRIBE CLUSTERING columns (id, a);
