-- Rows in partitions along a curve: each a box, of as many as are asked for
CREATE TEMPORARY VIEW grid AS SELECT id, id * 2741 % 32 AS a, id * 2741 % 1024 DIV 32 AS b FROM range(1024);
CREATE TEMPORARY VIEW z AS SELECT spark_partition_id() AS p, * FROM (SELECT /*+ ZORDER(16, a, b) */ * FROM grid);
CREATE TEMPORARY VIEW h AS SELECT spark_partition_id() AS p, * FROM (SELECT /*+ HILBERT(16, b, a) */ * FROM grid);
SELECT p, count(*), min(a), max(a), min(b), max(b) FROM z GROUP BY p ORDER BY p;
SELECT p, count(*), min(a), max(a), min(b), max(b) FROM h GROUP BY p ORDER BY p;
SELECT count(DISTINCT id), sum(id) FROM z;
SELECT count(DISTINCT id), sum(id) FROM h;

-- The number may be left out; names are those of the result, or of its fields
SELECT count(DISTINCT p) FROM (SELECT spark_partition_id() AS p FROM (SELECT /*+ ZORDER(a, b) */ * FROM grid));
SELECT count(DISTINCT p) FROM (
  SELECT spark_partition_id() AS p FROM (SELECT /*+ hilbert(5, x, s.b) */ a AS x, struct(b) AS s FROM grid));
SELECT count(DISTINCT p) FROM (SELECT spark_partition_id() AS p FROM (SELECT /*+ ZORDER(5, `a`, grid.b) */ * FROM grid));
SELECT count(*), count(DISTINCT p) FROM (
  SELECT spark_partition_id() AS p FROM (SELECT /*+ ZORDER(4, day) */ a % 5 AS day, count(*) AS n FROM grid GROUP BY a % 5));

-- Of the files that are written, every one a partition
CREATE TABLE t USING parquet AS SELECT /*+ ZORDER(16, a, b) */ * FROM grid;
SELECT count(DISTINCT _metadata.file_name) FROM t;
SELECT count(DISTINCT _metadata.file_name) FROM t WHERE a = 1;
INSERT INTO t SELECT /*+ HILBERT(3, a, b) */ * FROM grid;
SELECT count(*), count(DISTINCT _metadata.file_name) FROM t;

-- Nulls, nothing, one value
SELECT count(*), count(v) FROM (SELECT /*+ ZORDER(4, v) */ IF(id % 2 = 0, NULL, id) AS v FROM range(100));
SELECT count(*) FROM (SELECT /*+ ZORDER(4, id) */ * FROM range(100) WHERE id < 0);
SELECT count(DISTINCT p) FROM (
  SELECT spark_partition_id() AS p FROM (SELECT /*+ ZORDER(4, v) */ 7 + id * 0 AS v FROM range(100)));

-- Refused
SELECT /*+ ZORDER(0, a) */ * FROM grid;
SELECT /*+ HILBERT(-2, a) */ * FROM grid;
SELECT /*+ ZORDER(9999999999, a) */ * FROM grid;
SELECT /*+ ZORDER */ * FROM grid;
SELECT /*+ HILBERT(4) */ * FROM grid;
SELECT /*+ ZORDER(4, zz) */ * FROM grid;
SELECT /*+ ZORDER(4, b) */ a FROM grid;
SELECT /*+ ZORDER(4, 5) */ * FROM grid;
SELECT /*+ ZORDER(4.5, a) */ * FROM grid;
SELECT /*+ ZORDER(4, rand()) */ * FROM grid;
SELECT /*+ ZORDER(4, sum(a) OVER ()) */ * FROM grid;
SELECT /*+ ZORDER(4, sum(a)) */ * FROM grid;
SELECT /*+ ZORDER(4, explode(array(a, b))) */ * FROM grid;
SELECT /*+ ZORDER(4, current_date()) */ * FROM grid;
SELECT /*+ ZORDER(4, a, A) */ * FROM grid;
SELECT /*+ ZORDER(4, m) */ map(a, b) AS m FROM grid;
SELECT /*+ HILBERT(4, c1, c2, c3, c4, c5, c6, c7, c8, c9) */ 1 AS c1, 2 AS c2, 3 AS c3, 4 AS c4, 5 AS c5, 6 AS c6, 7 AS c7, 8 AS c8, 9 AS c9;
