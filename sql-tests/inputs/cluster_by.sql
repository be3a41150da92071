-- Without a layout of ours a bare OPTIMIZE takes Spark's own clustering.
-- since Spark 4.3
CREATE TABLE t (id BIGINT, s STRUCT<x: BIGINT>, a BIGINT) USING parquet CLUSTER BY (a, s.x);
INSERT INTO t SELECT /*+ REPARTITION(4) */ id, named_struct('x', id * 31 % 99), id * 7919 % 1000 FROM range(9);
OPTIMIZE t OPTIONS ('num-files' = '8') DRY RUN;
OPTIMIZE t OPTIONS ('num-files' = '8');
OPTIMIZE t ZORDER BY (id) OPTIONS ('num-files' = '8');
DESCRIBE HISTORY t;
