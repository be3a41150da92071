CREATE TABLE t (id BIGINT, a BIGINT, day DATE) USING parquet PARTITIONED BY (day);
INSERT INTO t SELECT /*+ REPARTITION(3) */ id, pmod(hash(id), 1000), DATE'2024-01-01' + CAST(id % 4 AS INT) FROM range(4000);

-- Whole partitions
OPTIMIZE t WHERE day = DATE'2024-01-01' ZORDER BY (a) OPTIONS ('num-files' = '4');
SELECT day, count(*), sum(id), count(DISTINCT _metadata.file_name) FROM t GROUP BY day ORDER BY day;
OPTIMIZE t WHERE day > '2024-01-02' ZORDER BY (a) OPTIONS ('num-files' = '8');
SELECT day, count(*), sum(id) FROM t GROUP BY day ORDER BY day;
OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '16');
SELECT day, count(*), sum(id) FROM t GROUP BY day ORDER BY day;

-- Of no partition
OPTIMIZE t WHERE day = DATE'1999-01-01' ZORDER BY (a);
OPTIMIZE t WHERE t.day = DATE'1999-01-01' ZORDER BY (a);

-- Refused
--! snapshot t
OPTIMIZE t WHERE a = 1 ZORDER BY (a);
OPTIMIZE t WHERE day = DATE'2024-01-01' AND a < 5 ZORDER BY (a);
OPTIMIZE t WHERE nowhere = 1 ZORDER BY (a);
OPTIMIZE t WHERE t.nowhere = 1 ZORDER BY (a);
OPTIMIZE t WHERE u.day = DATE'2024-01-01' ZORDER BY (a);
OPTIMIZE t ZORDER BY (day);
OPTIMIZE t ZORDER BY (a, day);
--! unchanged

-- In groups, and what is done is committed before all is
CREATE TABLE g (id BIGINT, a BIGINT, day DATE) USING parquet PARTITIONED BY (day);
INSERT INTO g SELECT /*+ REPARTITION(3) */ id, pmod(hash(id), 1000), DATE'2024-01-01' + CAST(id % 4 AS INT) FROM range(4000);
OPTIMIZE g ZORDER BY (a) OPTIONS ('num-files' = '8', 'partial-progress.enabled' = 'true', 'partial-progress.max-commits' = '2');
SELECT day, count(*), sum(id), count(DISTINCT _metadata.file_name) FROM g GROUP BY day ORDER BY day;
DESCRIBE HISTORY g;
OPTIMIZE g FULL ZORDER BY (a) OPTIONS ('num-files' = '4', 'max-file-group-size-bytes' = '1', 'max-concurrent-file-group-rewrites' = '2');
SELECT day, count(*), sum(id), count(DISTINCT _metadata.file_name) FROM g GROUP BY day ORDER BY day;
