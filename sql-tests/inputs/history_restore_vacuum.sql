CREATE TABLE t USING parquet AS SELECT /*+ REPARTITION(4) */ id, pmod(hash(id), 1000) AS a FROM range(1000);
DESCRIBE HISTORY t;
RESTORE t TO VERSION AS OF 0;

OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '8');
DESCRIBE HISTORY t;
RESTORE t TO VERSION AS OF 7;
RESTORE t TO VERSION AS OF 0;
SELECT count(*), sum(id), sum(a), count(DISTINCT _metadata.file_name) FROM t;
DESCRIBE HISTORY t;

OPTIMIZE t FULL ZORDER BY (a) OPTIONS ('num-files' = '2');
VACUUM t;
VACUUM t DRY RUN;
VACUUM t RETAIN 0 HOURS DRY RUN;
VACUUM t RETAIN 0 HOURS;
SELECT count(*), sum(id), sum(a), count(DISTINCT _metadata.file_name) FROM t;
DESCRIBE HISTORY t;
RESTORE t TO VERSION AS OF 0;
SELECT count(*), sum(id), sum(a), count(DISTINCT _metadata.file_name) FROM t;
