-- The classic Z-order: the columns' ordered bytes in turns, with Iceberg's options
CREATE TABLE t USING parquet AS
SELECT /*+ REPARTITION(8) */ id, pmod(hash(id), 1000) AS a, CAST(pmod(hash(id, 1), 1000) AS DOUBLE) - 500 AS b,
  IF(id % 10 = 0, NULL, concat('s', pmod(hash(id, 2), 100))) AS s, id % 3 = 0 AS flag,
  CAST(pmod(hash(id, 3), 1000) AS DECIMAL(30, 2)) AS d, date_add(DATE'2020-01-01', CAST(pmod(hash(id, 4), 500) AS INT)) AS day
FROM range(4000);
SELECT count(*), sum(id), sum(a), sum(b), count(s), sum(d) FROM t;
OPTIMIZE t ZORDER BY (a, id) OPTIONS ('num-files' = '16', 'mapping' = 'bytes');
SELECT count(*), sum(id), sum(a), sum(b), count(s), sum(d) FROM t;
SELECT count(DISTINCT _metadata.file_name) FROM t;

-- Kept, in an incremental run as well
OPTIMIZE t OPTIONS ('num-files' = '16');
OPTIMIZE t ZORDER BY (a, id) OPTIONS ('num-files' = '16', 'mapping' = 'BYTES');

-- Another one is another layout
OPTIMIZE t OPTIONS ('num-files' = '16', 'max-output-size' = '6', 'var-length-contribution' = '3');
SELECT count(*), sum(id), sum(a), sum(b), count(s), sum(d) FROM t;
OPTIMIZE t ZORDER BY (b, s, flag, d, day) OPTIONS ('num-files' = '10', 'mapping' = 'bytes', 'cuts' = 'equal', 'var-length-contribution' = '3');
SELECT count(*), sum(id), sum(a), sum(b), count(s), sum(d) FROM t;
SELECT count(DISTINCT _metadata.file_name) FROM t;
OPTIMIZE t OPTIONS ('mapping' = 'range', 'num-files' = '10');
DESCRIBE HISTORY t;

-- Refused
OPTIMIZE t ZORDER BY (a) OPTIONS ('mapping' = 'bits');
OPTIMIZE t ZORDER BY (a) OPTIONS ('mapping' = 'bytes', 'var-length-contribution' = '0');
OPTIMIZE t ZORDER BY (a) OPTIONS ('mapping' = 'bytes', 'var-length-contribution' = '257');
OPTIMIZE t ZORDER BY (a) OPTIONS ('mapping' = 'bytes', 'max-output-size' = '-1');
OPTIMIZE t ZORDER BY (a) OPTIONS ('mapping' = 'bytes', 'max-output-size' = 'eight');
OPTIMIZE t ZORDER BY (a) OPTIONS ('var-length-contribution' = '8');
OPTIMIZE t ZORDER BY (a) OPTIONS ('mapping' = 'range', 'max-output-size' = '8');
OPTIMIZE t HILBERT BY (a, b) OPTIONS ('mapping' = 'bytes');
OPTIMIZE t ORDER BY (a, b) OPTIONS ('mapping' = 'bytes');
OPTIMIZE t ZORDER BY (a WEIGHT 2, b) OPTIONS ('mapping' = 'bytes');
