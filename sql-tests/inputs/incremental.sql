-- Rows that are added to a clustered table are placed by the boundaries of what is there; few other files are rewritten
CREATE TABLE t USING parquet AS
SELECT /*+ REPARTITION(4) */ id, pmod(hash(id), 10000) AS a, pmod(hash(id, 1), 10000) AS b FROM range(60000);
OPTIMIZE t ZORDER BY (a, b) OPTIONS ('target-file-size-bytes' = '20000');
SELECT count(DISTINCT _metadata.file_name) BETWEEN 15 AND 60 AS as_asked FROM t;
INSERT INTO t SELECT id, pmod(hash(id), 10000) AS a, pmod(hash(id, 1), 10000) AS b FROM range(60000, 62200);
CREATE TEMPORARY VIEW before AS SELECT DISTINCT _metadata.file_name AS name FROM t;
CACHE TABLE before;
OPTIMIZE t ZORDER BY (a, b) OPTIONS ('target-file-size-bytes' = '20000');
SELECT count(*), count(DISTINCT id), sum(a), sum(b) FROM t;
WITH after AS (SELECT DISTINCT _metadata.file_name AS name FROM t)
SELECT count(*) > (SELECT count(*) FROM before) * 0.7 AS most_stayed FROM after JOIN before USING (name);

-- Nothing is left to do
OPTIMIZE t ZORDER BY (a, b) OPTIONS ('target-file-size-bytes' = '20000');
