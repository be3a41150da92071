-- Forms of Delta Lake whose meaning is clear.
CREATE TABLE t USING parquet AS SELECT /*+ REPARTITION(4) */ id, pmod(hash(id), 1000) AS a FROM range(1000);
DESCRIBE DETAIL t;
OPTIMIZE TABLE t ZORDER BY (a) OPTIONS ('num-files' = '2');
DESCRIBE DETAIL t;
DESC DETAIL parquet.`${dir}/t`;
RESTORE TABLE t TO TIMESTAMP AS OF '2100-01-01 00:00:00';
RESTORE t TO TIMESTAMP AS OF '2001-01-01';
SELECT count(*), sum(id), count(DISTINCT _metadata.file_name) FROM t;
RESTORE t TO TIMESTAMP AS OF 'yesterday evening';
VACUUM t RETAIN 7 DAYS DRY RUN;
VACUUM t RETAIN 0 DAYS;

-- Others are shown how the statement is written.
OPTIMIZE t ZORDER (a);
OPTIMIZE t ZORDER BY (a) DRY RUN;
VACUUM t RETAIN 7 WEEKS;
RESTORE t VERSION AS OF 0;
CREATE SKIPPING INDEX t;
EXPLAIN SKIPPING;

-- A column may be called like a word of ours.
CREATE TABLE detail USING parquet AS SELECT 1 AS day, 2 AS hour, 3 AS days, 4 AS `timestamp`;
DESCRIBE DETAIL day;
CREATE TABLE day USING parquet AS SELECT 5 AS hour;
DESCRIBE DETAIL day;
DESCRIBE CLUSTERING day;
CREATE TABLE clustering USING parquet AS SELECT 1 AS day;
DESCRIBE CLUSTERING day;
CREATE TABLE history USING parquet AS SELECT 1 AS hour, struct(1 AS day) AS default;
DESCRIBE HISTORY day;
DESCRIBE HISTORY default.day;
DROP TABLE clustering;
CREATE SKIPPING INDEX ON detail (day, hour, days, timestamp, detail);
CREATE SKIPPING INDEX ON detail (day, hour, days, timestamp);

-- Sizes as people write them
OPTIMIZE t ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '128MB', 'row-group-size-bytes' = '1 MiB', 'max-file-group-size-bytes' = '1.5g');
OPTIMIZE t ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '1 parsec');
OPTIMIZE t ZORDER BY (a) OPTIONS ('row-group-size-bytes' = '0.5k');
