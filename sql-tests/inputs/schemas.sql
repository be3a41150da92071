-- Files of several schemas are rewritten if each reads back exactly under the table's schema. Else they are refused.
-- since Spark 4.3

-- Narrower numbers are read as the table's, and written as such
CREATE TABLE narrow (id INT, a INT, x FLOAT, d DECIMAL(9, 2)) USING parquet LOCATION '${dir}/numbers';
INSERT INTO narrow SELECT /*+ REPARTITION(2) */ id, id * 7919 % 100, id / 2, id / 4 FROM range(100);
CREATE TABLE wide (id BIGINT, a BIGINT, x DOUBLE, d DECIMAL(18, 2)) USING parquet LOCATION '${dir}/numbers';
INSERT INTO wide SELECT /*+ REPARTITION(2) */ id, id * 7919 % 100, id / 2, id / 4 FROM range(100);
OPTIMIZE wide ZORDER BY (a, x, d) OPTIONS ('num-files' = '4');
SELECT count(*), sum(id), sum(a), sum(x), sum(d) FROM wide;
SELECT id, a, x, d FROM wide WHERE a = 17 AND x > 3.3;
-- A narrower type is refused
--! snapshot numbers
REFRESH TABLE narrow;
OPTIMIZE narrow ZORDER BY (a) OPTIONS ('num-files' = '2');
-- So is a column that the table lacks
CREATE TABLE lacks (id BIGINT, a BIGINT, x DOUBLE) USING parquet LOCATION '${dir}/numbers';
OPTIMIZE lacks ZORDER BY (a) OPTIONS ('num-files' = '2');
--! unchanged
--! forget

-- Types that do not go together
CREATE TABLE texts (id BIGINT, a STRING) USING parquet LOCATION '${dir}/mixed';
INSERT INTO texts SELECT /*+ REPARTITION(2) */ id, id FROM range(100);
CREATE TABLE mixed (id BIGINT, a BIGINT) USING parquet LOCATION '${dir}/mixed';
INSERT INTO mixed SELECT /*+ REPARTITION(2) */ id, id FROM range(100);
CREATE TABLE days (id BIGINT, a DATE) USING orc LOCATION '${dir}/mixed_orc';
INSERT INTO days SELECT /*+ REPARTITION(2) */ id, DATE'2024-01-01' FROM range(100);
CREATE TABLE structs (id BIGINT, a STRUCT<x: INT>) USING orc LOCATION '${dir}/mixed_orc';
INSERT INTO structs SELECT /*+ REPARTITION(2) */ id, named_struct('x', 1) FROM range(100);
--! snapshot mixed
--! snapshot mixed_orc
OPTIMIZE mixed ZORDER BY (id) OPTIONS ('num-files' = '2');
OPTIMIZE texts ZORDER BY (id) OPTIONS ('num-files' = '2');
OPTIMIZE structs ZORDER BY (id) OPTIONS ('num-files' = '2');
--! unchanged
--! forget

-- Names that differ in case are one column
CREATE TABLE upper_case (ID BIGINT, AMOUNT BIGINT) USING parquet LOCATION '${dir}/names';
INSERT INTO upper_case SELECT /*+ REPARTITION(2) */ id, id * 7919 % 100 FROM range(100);
CREATE TABLE names (id BIGINT, Amount BIGINT) USING parquet LOCATION '${dir}/names';
INSERT INTO names SELECT /*+ REPARTITION(2) */ id + 100, id * 7919 % 100 FROM range(100);
OPTIMIZE names ZORDER BY (amount) OPTIONS ('num-files' = '4');
SELECT * FROM names WHERE AMOUNT = 17 ORDER BY id;
-- A session that tells the cases apart has two columns
SET spark.sql.caseSensitive = true;
CREATE TABLE two (id BIGINT, Case INT, cASE STRING) USING orc;
INSERT INTO two SELECT /*+ REPARTITION(3) */ id, CAST(id % 7 AS INT), concat('s', id) FROM range(100);
CREATE TABLE only_one (id BIGINT, cASE STRING) USING orc LOCATION '${dir}/two';
INSERT INTO only_one SELECT /*+ COALESCE(1) */ id, 'x' FROM range(100, 110);
REFRESH TABLE two;
OPTIMIZE two ZORDER BY (Case) OPTIONS ('num-files' = '2');
SELECT count(*), count(Case), sum(Case), count(DISTINCT cASE) FROM two;
SELECT count(*) FROM two WHERE Case IS NULL AND cASE = 'x';
RESET spark.sql.caseSensitive;

-- A column that came later: a path does not say whether it has a default, a table does
CREATE TABLE old (id BIGINT, a BIGINT) USING orc LOCATION '${dir}/later';
INSERT INTO old SELECT /*+ REPARTITION(2) */ id, id FROM range(100);
CREATE TABLE later (id BIGINT, a BIGINT, b STRING, s STRUCT<x: INT>) USING orc LOCATION '${dir}/later';
INSERT INTO later SELECT /*+ REPARTITION(2) */ id, id, 'new', named_struct('x', 1) FROM range(100, 110);
--! snapshot later
OPTIMIZE orc.`${dir}/later` ZORDER BY (a) OPTIONS ('num-files' = '2');
--! unchanged
--! forget
OPTIMIZE later ZORDER BY (a, b) OPTIONS ('num-files' = '4');
SELECT count(*), count(b), count(s.x), sum(id) FROM later;
EXPLAIN SKIPPING SELECT * FROM later WHERE b = 'new';
OPTIMIZE orc.`${dir}/later` ZORDER BY (s.x) OPTIONS ('num-files' = '2');
-- A default stays in rows of older files
CREATE TABLE defaults USING parquet AS SELECT /*+ REPARTITION(3) */ id FROM range(1000);
ALTER TABLE defaults ADD COLUMN (level INT DEFAULT 42);
INSERT INTO defaults SELECT id, IF(id % 2 = 0, NULL, 7) FROM range(10);
CREATE SKIPPING INDEX ON defaults;
SELECT level, count(*) FROM defaults WHERE level = 42 OR level IS NULL GROUP BY level ORDER BY level;
OPTIMIZE defaults ZORDER BY (level) OPTIONS ('num-files' = '4');
SELECT level, count(*) FROM defaults WHERE level = 42 OR level IS NULL GROUP BY level ORDER BY level;

-- Partitions of a folder whose files agree are rewritten, each with its own columns
CREATE TABLE p0 (id BIGINT, a BIGINT) USING parquet LOCATION '${dir}/agree/p=0';
INSERT INTO p0 SELECT /*+ REPARTITION(2) */ id, id % 7 FROM range(100);
CREATE TABLE p1 (id BIGINT, a BIGINT, c BIGINT) USING parquet LOCATION '${dir}/agree/p=1';
INSERT INTO p1 SELECT /*+ REPARTITION(2) */ id, id % 7, id FROM range(100);
OPTIMIZE parquet.`${dir}/agree` ORDER BY a;
OPTIMIZE parquet.`${dir}/agree` WHERE p = 0 ORDER BY a OPTIONS ('num-files' = '1');
OPTIMIZE parquet.`${dir}/agree` WHERE p = 1 ORDER BY a OPTIONS ('num-files' = '1');
OPTIMIZE parquet.`${dir}/agree` FULL ORDER BY a;
OPTIMIZE parquet.`${dir}/agree` FULL WHERE p = 0 ORDER BY (c);
-- A table defines its columns
CREATE TABLE agree USING parquet OPTIONS (mergeSchema 'true') LOCATION '${dir}/agree';
MSCK REPAIR TABLE agree;
OPTIMIZE agree FULL ORDER BY c;
SELECT p, count(*), count(c), sum(id) FROM agree GROUP BY p ORDER BY p;
