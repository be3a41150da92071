CREATE TABLE t USING parquet AS
SELECT /*+ REPARTITION(8) */ id, pmod(hash(id), 1000) AS a, pmod(hash(id, 1), 1000) AS b, CAST(id % 3 AS STRING) AS c FROM range(4000);
SELECT count(*), sum(id), sum(a), sum(b) FROM t;

OPTIMIZE t ZORDER BY (a, b) OPTIONS ('num-files' = '16');
SELECT count(*), sum(id), sum(a), sum(b) FROM t;
SELECT count(DISTINCT _metadata.file_name) BETWEEN 14 AND 18 AS as_asked FROM t;
SELECT id, a, b, c FROM t WHERE a = 17 AND b = 155;

-- What is in the layout already is left alone
OPTIMIZE t;
OPTIMIZE t ZORDER BY (a, b);

-- But not when asked so
OPTIMIZE t FULL ZORDER BY (b WEIGHT 2, a) OPTIONS ('num-files' = '4');
SELECT count(*), sum(id), sum(a), sum(b) FROM t;
DESCRIBE HISTORY t;

-- Every way to name a target
CREATE TABLE p USING parquet AS SELECT /*+ REPARTITION(4) */ id, pmod(hash(id), 1000) AS a FROM range(1000);
OPTIMIZE parquet.`${dir}/p` ZORDER BY (a) OPTIONS ('num-files' = '4');
SELECT count(*), sum(id), sum(a) FROM p;
CREATE TABLE q USING parquet AS SELECT /*+ REPARTITION(4) */ id, pmod(hash(id), 1000) AS a FROM range(1000);
OPTIMIZE '${dir}/q' ZORDER BY a OPTIONS ('num-files' = '4');
SELECT count(*), sum(id), sum(a) FROM q;
CREATE TABLE o USING orc AS SELECT /*+ REPARTITION(4) */ id, pmod(hash(id), 1000) AS a FROM range(1000);
OPTIMIZE orc.`${dir}/o` ZORDER BY (a) OPTIONS ('num-files' = '4');
SELECT count(*), sum(id), sum(a) FROM o;

-- Fields of structs, names with blanks, dots and backquotes
CREATE TABLE s USING parquet AS
SELECT /*+ REPARTITION(4) */ named_struct('x', pmod(hash(id), 1000), 'a.b', id % 7) AS s, id AS `my id` FROM range(1000);
OPTIMIZE s ZORDER BY (s.x, s.`a.b`, `my id`) OPTIONS ('num-files' = '8');
SELECT count(*), sum(s.x), sum(s.`a.b`), sum(`my id`) FROM s;
