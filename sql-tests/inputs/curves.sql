CREATE TABLE t USING parquet AS
SELECT /*+ REPARTITION(8) */ id, pmod(hash(id), 1000) AS a, pmod(hash(id, 1), 1000) AS b, id % 2 = 0 AS flag,
  IF(id % 10 = 0, NULL, CAST(pmod(hash(id, 2), 100) AS STRING)) AS s FROM range(4000);
SELECT count(*), sum(id), sum(a), sum(b), count(s) FROM t;

-- Files end where the curve leaves a cell: sixteen are sixteen cells
OPTIMIZE t HILBERT BY (a, b) OPTIONS ('num-files' = '16');
SELECT count(*), sum(id), sum(a), sum(b), count(s) FROM t;
SELECT count(DISTINCT _metadata.file_name) FROM t;
OPTIMIZE t HILBERT BY (a, b) OPTIONS ('num-files' = '16');

-- Of any number of columns, with weights, a flag among them; the number of files is about the one asked for
OPTIMIZE t HILBERT BY (a WEIGHT 4, b, flag, s) OPTIONS ('num-files' = '24');
SELECT count(*), sum(id), sum(a), sum(b), count(s) FROM t;
SELECT count(DISTINCT _metadata.file_name) BETWEEN 18 AND 30 AS as_asked FROM t;

-- Equal files, of every curve
OPTIMIZE t HILBERT BY (a, b) OPTIONS ('num-files' = '10', 'cuts' = 'equal');
SELECT count(DISTINCT _metadata.file_name) FROM t;
OPTIMIZE t ZORDER BY (a, b) OPTIONS ('num-files' = '10', 'cuts' = 'EQUAL');
SELECT count(DISTINCT _metadata.file_name) FROM t;

-- A sort: by the first column, then by the next. Files are ranges of it.
OPTIMIZE t ORDER BY (flag, a) OPTIONS ('num-files' = '10');
SELECT count(*), sum(id), sum(a), sum(b), count(s) FROM t;
SELECT count(DISTINCT _metadata.file_name) FROM t;
SELECT max(n) FROM (SELECT count(DISTINCT _metadata.file_name) AS n FROM t GROUP BY flag, a);
OPTIMIZE t ORDER BY s OPTIONS ('num-files' = '10');
SELECT count(DISTINCT _metadata.file_name) FROM t;
SELECT max(n) FROM (SELECT count(DISTINCT _metadata.file_name) AS n FROM t WHERE s IS NOT NULL GROUP BY s);
SELECT count(*), sum(id), sum(a), sum(b), count(s) FROM t;

-- The layout of the last one is kept
OPTIMIZE t FULL OPTIONS ('num-files' = '5');
SELECT count(DISTINCT _metadata.file_name) FROM t;
DESCRIBE HISTORY t;

OPTIMIZE t ORDER BY (a WEIGHT 2, b);
OPTIMIZE t ZORDER BY (a, b) OPTIONS ('cuts' = 'round');
