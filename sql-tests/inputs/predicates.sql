-- WHERE takes a predicate and nothing else. Each statement that says more is refused, at the place of
-- the first word too many, and changes nothing.
CREATE TABLE t (id BIGINT, p INT, d STRING) USING parquet PARTITIONED BY (p, d);
INSERT INTO t SELECT /*+ REPARTITION(3) */ id, CAST(id % 2 AS INT), 'DRY RUN' FROM range(300);
INSERT INTO t SELECT /*+ REPARTITION(2) */ id, 7, 'x; ORDER BY (id)' FROM range(100);
--! snapshot t

OPTIMIZE t WHERE p = 1 DRYRUN;
OPTIMIZE t WHERE p = 1 DRY;
OPTIMIZE t WHERE p = 1 FULL;
OPTIMIZE t WHERE p = 1 OR;
OPTIMIZE t WHERE p = 1 AND DRY RUN;
OPTIMIZE t WHERE p = 1 AS x;
OPTIMIZE t WHERE p = 1 x ZORDER BY (id);
OPTIMIZE t WHERE (p = 1) AS (a, b);
OPTIMIZE t WHERE p = 1 OPTIONS;
OPTIMIZE t WHERE p = 1, p = 7;
OPTIMIZE t WHERE p = 1 GROUP BY p;
OPTIMIZE t WHERE p = 1 LIMIT 1;
OPTIMIZE t WHERE p = 1 CLUSTER BY p;
OPTIMIZE t WHERE p = 1) OR (p = 7;
OPTIMIZE t WHERE p = 1 UNION SELECT 2;
OPTIMIZE t WHERE p = ORDER BY (id);
OPTIMIZE t
  WHERE p = 1
    FULL;
OPTIMIZE t WHERE p = 1 /* DRY RUN;
OPTIMIZE t WHERE p = 1 /*+ DRY RUN */;
OPTIMIZE t WHERE p IN (SELECT 1);
OPTIMIZE t WHERE p = :x;
OPTIMIZE t WHERE p = ?;

-- Comments and our own words in text and in names
OPTIMIZE t WHERE p = 1 /* only one */ AND d = 'DRY RUN' -- that is all
  DRY RUN;
OPTIMIZE t WHERE d = "x; ORDER BY (id)" DRY RUN;
OPTIMIZE t WHERE `p` = 7 AND d NOT IN ('OPTIONS (', 'ZORDER BY AUTO') DRY RUN;
--! unchanged

-- Each way to give a predicate its values
OPTIMIZE t WHERE (p = 7);
EXECUTE IMMEDIATE 'OPTIMIZE t WHERE p = :x AND d = :d' USING 1 AS x, 'DRY RUN' AS d;
EXECUTE IMMEDIATE 'OPTIMIZE t WHERE p = ?' USING 0;
SELECT p, count(*), sum(id), count(DISTINCT _metadata.file_name) FROM t GROUP BY p ORDER BY p;
