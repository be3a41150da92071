-- Spark pads CHAR columns when it reads them. Blanks stay, and files are skipped.
-- since Spark 4.3
CREATE TABLE t (id BIGINT, c CHAR(8), v VARCHAR(8), s STRING) USING parquet;
INSERT INTO t SELECT /*+ REPARTITION(4) */ id, 'k' || (100 + id % 50), IF(id % 7 = 0, '', 'v ' || id % 9 || ' '),
  IF(id % 5 = 0, '', IF(id % 6 = 0, NULL, ' ')) FROM range(1000);
INSERT INTO t VALUES (-1, NULL, NULL, NULL), (-2, '', '', ''), (-3, 'k 1', ' ', ' ');
CREATE TEMPORARY VIEW sums AS SELECT count(*), sum(id), sum(hash(c, v, s)) FROM t;
SELECT * FROM sums;
OPTIMIZE t ZORDER BY (c) OPTIONS ('num-files' = '8');
SELECT * FROM sums;
DESCRIBE t;
EXPLAIN SKIPPING SELECT * FROM t WHERE c = 'k107';
EXPLAIN SKIPPING SELECT * FROM t WHERE c <=> 'k107    ';
EXPLAIN SKIPPING SELECT * FROM t WHERE c IN ('k101', 'k102');
EXPLAIN SKIPPING SELECT * FROM t WHERE c LIKE 'k13%';
EXPLAIN SKIPPING SELECT * FROM t WHERE c < 'k104';
EXPLAIN SKIPPING SELECT * FROM t WHERE c >= 'k147';
EXPLAIN SKIPPING SELECT * FROM t WHERE c BETWEEN 'k103' AND 'k104';
EXPLAIN SKIPPING SELECT * FROM t WHERE c = 'k 1';
EXPLAIN SKIPPING SELECT * FROM t WHERE c = 'x';
EXPLAIN SKIPPING SELECT * FROM t WHERE c IS NULL;
-- One row for each predicate: with skipping off the counts are the same
CREATE TEMPORARY VIEW counts AS SELECT
  (SELECT count(*) FROM t WHERE c = 'k107') AS n1, (SELECT count(*) FROM t WHERE c = 'k107     ') AS n2,
  (SELECT count(*) FROM t WHERE c <> 'k107') AS n3, (SELECT count(*) FROM t WHERE NOT c LIKE 'k1%') AS n4,
  (SELECT count(*) FROM t WHERE c = '') AS n5, (SELECT count(*) FROM t WHERE c > 'k107 ') AS n6,
  (SELECT count(*) FROM t WHERE c LIKE 'k107 %') AS n7, (SELECT count(*) FROM t WHERE v = '') AS n8,
  (SELECT count(*) FROM t WHERE v = 'v 3 ') AS n9, (SELECT count(*) FROM t WHERE v = 'v 3') AS n10,
  (SELECT count(*) FROM t WHERE s = '') AS n11, (SELECT count(*) FROM t WHERE s IS NULL) AS n12;
SELECT * FROM counts;
SET spark.zorder.skipping.enabled = false;
SELECT * FROM counts;
RESET spark.zorder.skipping.enabled;
CREATE TABLE oc (id BIGINT, c CHAR(8), v VARCHAR(8), s STRING) USING orc;
INSERT INTO oc SELECT /*+ REPARTITION(4) */ * FROM t;
OPTIMIZE oc ZORDER BY (c) OPTIONS ('num-files' = '8');
EXPLAIN SKIPPING SELECT * FROM oc WHERE c = 'k107';
SELECT count(*), sum(id), sum(hash(c, v, s)) FROM oc;
SELECT count(*) FROM oc WHERE c = 'k107     ';

-- Nulls are counted of types without an order
CREATE TABLE n USING orc AS SELECT /*+ REPARTITION_BY_RANGE(8, id) */ id, IF(id < 200, NULL, array(id, NULL)) AS arr,
  IF(id < 200, NULL, map(id, 'x')) AS m, IF(id < 200, NULL, named_struct('x', id, 'in', named_struct('y', array(id)))) AS st FROM range(800);
CREATE TABLE np USING parquet AS SELECT /*+ REPARTITION_BY_RANGE(8, id) */ * FROM n;
OPTIMIZE n ZORDER BY (id) OPTIONS ('num-files' = '24');
OPTIMIZE np ZORDER BY (id) OPTIONS ('num-files' = '24');
EXPLAIN SKIPPING SELECT * FROM n WHERE arr IS NULL;
EXPLAIN SKIPPING SELECT * FROM n WHERE m IS NOT NULL;
EXPLAIN SKIPPING SELECT * FROM n WHERE st.in.y IS NULL;
EXPLAIN SKIPPING SELECT * FROM np WHERE arr IS NULL;
EXPLAIN SKIPPING SELECT * FROM np WHERE m IS NOT NULL;
EXPLAIN SKIPPING SELECT * FROM np WHERE st.in IS NULL;
EXPLAIN SKIPPING SELECT * FROM np WHERE st.in.y IS NULL;
SELECT count(*) FROM n WHERE arr IS NULL AND st.in.y IS NULL;
SELECT count(*) FROM np WHERE arr IS NULL AND st.in.y IS NULL;
