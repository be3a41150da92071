-- A query that runs, and the files that it read in vain
SET spark.zorder.memory.enabled = true;
CREATE TABLE t (id INT, s STRING) USING parquet;
INSERT INTO t
SELECT i, format_string('k%05d', i) FROM (SELECT /*+ REPARTITION_BY_RANGE(8, i) */ CAST(id AS INT) AS i FROM range(800));
-- Nothing counts without an index
EXPLAIN SKIPPING ANALYZE SELECT * FROM t WHERE id % 400 = 7 AND s LIKE '%7';
CREATE SKIPPING INDEX ON t;
EXPLAIN SKIPPING ANALYZE SELECT * FROM t WHERE id < 300 AND s LIKE '%222';
EXPLAIN SKIPPING ANALYZE SELECT count(*) FROM t;
EXPLAIN SKIPPING ANALYZE SELECT 1;

-- Nothing counts if memory is off
SET spark.zorder.memory.enabled = false;
EXPLAIN SKIPPING ANALYZE SELECT * FROM t WHERE id < 300 AND s LIKE '%222';

-- What writes is refused
EXPLAIN SKIPPING ANALYZE CREATE TABLE u USING parquet AS SELECT * FROM t;
EXPLAIN SKIPPING ANALYZE INSERT INTO t SELECT * FROM t;
EXPLAIN SKIPPING ANALYZE SELECT nobody FROM t;
SELECT count(*) FROM t;
