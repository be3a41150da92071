CREATE TABLE t USING parquet AS SELECT /*+ REPARTITION(4) */ id, pmod(hash(id), 1000) AS a FROM range(1000);
DESCRIBE HISTORY t;
RESTORE t TO VERSION AS OF 0;
VACUUM t;
RESTORE t TO VERSION AS OF 1;

OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '8');
DESCRIBE HISTORY t;
RESTORE t TO VERSION AS OF 7;
RESTORE t TO VERSION AS OF 0;
SELECT count(*), sum(id), sum(a), count(DISTINCT _metadata.file_name) FROM t;
DESCRIBE HISTORY t;
-- It is there already, by another way.
RESTORE TABLE t TO VERSION AS OF 0;
-- What others append stays.
INSERT INTO t SELECT /*+ REPARTITION(1) */ id, 0 FROM range(1000, 1010);
RESTORE t TO VERSION AS OF 1;
SELECT count(*), sum(id), sum(a), count(DISTINCT _metadata.file_name) FROM t;
EXPLAIN SKIPPING SELECT * FROM t WHERE a = 500;

OPTIMIZE t FULL ZORDER BY (a) OPTIONS ('num-files' = '2', 'retain-hours' = '0');
DESCRIBE HISTORY t;
-- The last OPTIMIZE keeps nothing, the others seven days.
VACUUM t DRY RUN;
VACUUM t;
VACUUM t DRY RUN;
RESTORE t TO VERSION AS OF 3;
VACUUM t RETAIN 0.5 HOURS DRY RUN;
VACUUM t RETAIN 0 HOURS DRY RUN;
VACUUM t RETAIN 0 HOURS;
SELECT count(*), sum(id), sum(a), count(DISTINCT _metadata.file_name) FROM t;
DESCRIBE HISTORY t;
RESTORE t TO VERSION AS OF 0;
SELECT count(*), sum(id), sum(a), count(DISTINCT _metadata.file_name) FROM t;

-- Somebody else deletes a file of the result.
CREATE TABLE u USING orc PARTITIONED BY (p) AS SELECT /*+ REPARTITION(2, p) */ id, pmod(hash(id), 1000) AS a, id % 2 AS p FROM range(1000);
OPTIMIZE u ZORDER BY (a) OPTIONS ('num-files' = '8');
--! delete u/p=1/part-00005-*-zorder-*
--! snapshot u/p=0
RESTORE u TO VERSION AS OF 0;
--! unchanged
SELECT count(*), min(p), count(DISTINCT _metadata.file_name) FROM u;
-- Its rows are in the trash.
RESTORE u TO VERSION AS OF 0 OPTIONS ('lost-files' = 'keep');
RESTORE u TO VERSION AS OF 0 OPTIONS ('num-files' = '8');
RESTORE u TO VERSION AS OF 0 OPTIONS ('lost-files' = 'restore');
SELECT count(*), sum(id), sum(a), count(DISTINCT _metadata.file_name) FROM u;
DESCRIBE HISTORY u;
-- The file is nowhere, but it is in no way.
RESTORE u TO VERSION AS OF 1 OPTIONS ('lost-files' = 'restore');
OPTIMIZE u ZORDER BY (a) OPTIONS ('num-files' = '8');
RESTORE u TO VERSION AS OF 0;
SELECT count(*), sum(id), sum(a), count(DISTINCT _metadata.file_name) FROM u;

VACUUM t RETAIN HOURS;
RESTORE t TO VERSION AS OF -1;
