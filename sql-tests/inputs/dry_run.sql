-- DRY RUN says what OPTIMIZE would do, and changes nothing. Its numbers of files are those of the
-- OPTIMIZE that follows.
CREATE TABLE t USING parquet AS
SELECT /*+ REPARTITION(8, id) */ id, pmod(hash(id), 1000) AS a, pmod(hash(id, 1), 1000) AS b FROM range(20000);
--! snapshot t

OPTIMIZE t ZORDER BY (a, b) OPTIONS ('num-files' = '16') DRY RUN;
OPTIMIZE t DRY RUN;
OPTIMIZE t ZORDER BY (missing) DRY RUN;
OPTIMIZE t ZORDER BY a, b OPTIONS ('target-file-size-bytes' = '10KB') dry run;
DESCRIBE HISTORY t;
--! unchanged
--! forget

OPTIMIZE t ZORDER BY (a, b) OPTIONS ('num-files' = '16');
OPTIMIZE t DRY RUN;

INSERT INTO t SELECT id, pmod(hash(id), 1000), pmod(hash(id, 1), 1000) FROM range(20000, 20400);
--! snapshot t
OPTIMIZE t DRY RUN;
--! unchanged
--! forget
OPTIMIZE t;

-- Partitions, and packing.
CREATE TABLE p USING parquet PARTITIONED BY (day) AS
SELECT /*+ REPARTITION(3, id) */ id, pmod(hash(id), 100) AS a, id DIV 5000 AS day FROM range(10000);
--! snapshot p
OPTIMIZE p WHERE day = 1 ZORDER BY (a) DRY RUN;
OPTIMIZE p DRY RUN;
--! unchanged
--! forget
OPTIMIZE p;
