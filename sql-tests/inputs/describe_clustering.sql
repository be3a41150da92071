CREATE TABLE t USING parquet AS
SELECT /*+ REPARTITION_BY_RANGE(8, id) */ id, pmod(hash(id), 800) AS a, CAST(NULL AS INT) AS n FROM range(800);

-- Before anything has been done to the table, and for columns that are no keys
DESCRIBE CLUSTERING t (id, a);
OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '8');
DESCRIBE CLUSTERING t (id, a);
DESCRIBE CLUSTERING t (a);
