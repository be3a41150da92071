-- By what queries have asked for
SET spark.zorder.memory.enabled = false;
CREATE TABLE t USING parquet AS
SELECT /*+ REPARTITION(8) */ id, pmod(hash(id), 1000) AS a, pmod(hash(id, 1), 1000) AS b, named_struct('x y', pmod(hash(id, 2), 1000)) AS s
FROM range(8000);
OPTIMIZE t ZORDER BY AUTO;
CREATE SKIPPING INDEX ON t;
OPTIMIZE t ZORDER BY AUTO;
SET spark.zorder.workload.enabled = true;
SELECT count(*) FROM t WHERE a = 17;
SELECT count(*) FROM t WHERE a = 170 AND b > 700;
SELECT count(*) FROM t WHERE a = 171 AND b > 800;
SELECT count(*) FROM t WHERE s.`x y` IN (1, 20, 300);
SELECT count(*) FROM t WHERE b BETWEEN 10 AND 20 OR a = 7;
EXPLAIN SKIPPING SELECT count(*) FROM t WHERE id = 1;
OPTIMIZE t ZORDER BY AUTO OPTIONS ('num-files' = '16') DRY RUN;
OPTIMIZE t ZORDER BY AUTO OPTIONS ('num-files' = '16');
SELECT count(*), sum(id), sum(a), sum(b), sum(s.`x y`) FROM t;
OPTIMIZE t ZORDER BY AUTO OPTIONS ('num-files' = '16');
OPTIMIZE t ZORDER BY AUTO OPTIONS ('num-files' = '16', 'hot-ranges' = 'true', 'cuts' = 'equal');
SELECT count(*), sum(id), sum(a), sum(b), sum(s.`x y`) FROM t;
DESCRIBE HISTORY t;

-- The option is of AUTO alone
OPTIMIZE t ZORDER BY (a) OPTIONS ('hot-ranges' = 'true');
OPTIMIZE t OPTIONS ('hot-ranges' = 'true');
OPTIMIZE t ZORDER BY AUTO OPTIONS ('hot-ranges' = 'maybe');

-- A column of this name
CREATE TABLE n USING parquet AS SELECT /*+ REPARTITION(4) */ id AS auto FROM range(100);
OPTIMIZE n ZORDER BY (auto) OPTIONS ('num-files' = '2');
