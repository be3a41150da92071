-- Partitions of any name are chosen alone, and all others stay as they were.
-- since Spark 4.3
CREATE TABLE t (id BIGINT, a BIGINT, n INT, region STRING) USING orc PARTITIONED BY (n, region);
INSERT INTO t SELECT id, id * 7919 % 1000, IF(id % 14 = 3 AND id DIV 14 % 2 = 1, NULL, CAST(id DIV 14 % 2 AS INT)),
  array('plain', 'a b', 'x/y', '50%', 'é ü', 'q=1', 'it\'s', '#:?*', 'say "no"', '{}[]^', r'back\slash', ' lead', 'a+b', NULL)[id % 14]
FROM (SELECT /*+ REPARTITION(2) */ id FROM range(560));
--! snapshot t/n=0/region=plain
--! snapshot t/n=0/region=50%25
OPTIMIZE t FULL WHERE region = 'x/y' AND n = 1 ZORDER BY (a) OPTIONS ('num-files' = '3');
OPTIMIZE t FULL WHERE region IS NULL ZORDER BY (a) OPTIONS ('num-files' = '6');
OPTIMIZE t FULL WHERE n IS NULL ZORDER BY (a) OPTIONS ('num-files' = '3');
OPTIMIZE t FULL WHERE region IN ('a b', 'it\'s') AND n <= 0 ZORDER BY (a) OPTIONS ('num-files' = '6');
OPTIMIZE t FULL WHERE n = 1 AND (region = '#:?*' OR region LIKE 'say%') ZORDER BY (a) OPTIONS ('num-files' = '6');
OPTIMIZE t FULL WHERE NOT (region <> 'q=1') ZORDER BY (a) OPTIONS ('num-files' = '6');
OPTIMIZE t FULL WHERE N = 0 AND REGION IN ('é ü', '{}[]^', ' lead', 'a+b') ZORDER BY (a) OPTIONS ('num-files' = '12');
OPTIMIZE t FULL WHERE region = r'back\slash' ZORDER BY (a) OPTIONS ('num-files' = '6');
--! unchanged
--! forget
OPTIMIZE t FULL WHERE region = '50%' ZORDER BY (a) OPTIONS ('num-files' = '6');
SELECT n, region, count(*), count(DISTINCT id), sum(a), count(DISTINCT _metadata.file_name) FROM t GROUP BY n, region ORDER BY n, region;

-- New rows of one partition
INSERT INTO t SELECT /*+ COALESCE(1) */ id, id, 0, 'x/y' FROM range(1000, 1010);
--! snapshot t/n=1
OPTIMIZE t WHERE region = 'x/y' ZORDER BY (a) OPTIONS ('num-files' = '6');
--! unchanged
