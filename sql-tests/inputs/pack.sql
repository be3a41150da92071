-- Packing: a repeat finds nothing to do, and an empty table is no error.
CREATE TABLE t USING parquet AS SELECT /*+ REPARTITION(5) */ id, id AS a FROM range(1000);
OPTIMIZE t OPTIONS ('num-files' = '2');
--! snapshot t
OPTIMIZE t OPTIONS ('num-files' = '2');
--! unchanged
--! forget
INSERT INTO t SELECT /*+ REPARTITION(1) */ id, id FROM range(1000, 1010);
OPTIMIZE t OPTIONS ('num-files' = '2');
SELECT count(*), sum(id), count(DISTINCT _metadata.file_name) FROM t;
OPTIMIZE t FULL OPTIONS ('num-files' = '2');

-- Fewer rows than files
CREATE TABLE few USING parquet AS SELECT /*+ REPARTITION(1) */ id FROM range(3);
OPTIMIZE few OPTIONS ('num-files' = '8');
--! snapshot few
OPTIMIZE few OPTIONS ('num-files' = '8');
--! unchanged
--! forget

-- More files than asked for, as a file may have so many rows at most
SET spark.sql.files.maxRecordsPerFile = 100;
CREATE TABLE limited USING parquet AS SELECT /*+ REPARTITION(1) */ id FROM range(1000);
OPTIMIZE limited OPTIONS ('num-files' = '3');
--! snapshot limited
OPTIMIZE limited OPTIONS ('num-files' = '3');
--! unchanged
--! forget
-- Along a layout too: no value is in two of them, and each is a file of the index
OPTIMIZE limited ORDER BY (id) OPTIONS ('num-files' = '2');
RESET spark.sql.files.maxRecordsPerFile;
EXPLAIN SKIPPING SELECT * FROM limited WHERE id = 500;
SELECT max(n), count(*), sum(n) FROM (SELECT count(*) AS n FROM limited GROUP BY _metadata.file_name);
RESTORE limited TO VERSION AS OF 0;
SELECT count(*), sum(id), count(DISTINCT _metadata.file_name) FROM limited;

-- Empty tables, and predicates that no partition satisfies
CREATE TABLE empty (id BIGINT, a BIGINT, p INT) USING parquet PARTITIONED BY (p);
OPTIMIZE empty;
OPTIMIZE empty ZORDER BY (a);
OPTIMIZE empty ZORDER BY (nothing);
OPTIMIZE empty OPTIONS ('num-files' = '2');
INSERT INTO empty VALUES (1, 1, 1), (2, 2, 1);
OPTIMIZE empty WHERE p = 7 ZORDER BY (a);
OPTIMIZE empty FULL WHERE p = 7;

-- Several partitions: the number is of all of them, and a new file is about its partition alone.
CREATE TABLE parts (id BIGINT, p INT) USING parquet PARTITIONED BY (p);
INSERT INTO parts SELECT /*+ REPARTITION(3) */ id, CASE WHEN id < 700 THEN 1 WHEN id < 990 THEN 2 ELSE 3 END FROM range(1000);
OPTIMIZE parts OPTIONS ('num-files' = '7');
SELECT p, count(*), sum(id), count(DISTINCT _metadata.file_name) FROM parts GROUP BY p ORDER BY p;
--! snapshot parts
OPTIMIZE parts OPTIONS ('num-files' = '7');
--! unchanged
--! forget
INSERT INTO parts SELECT /*+ REPARTITION(1) */ id, 3 FROM range(1000, 1010);
OPTIMIZE parts OPTIONS ('num-files' = '7');
SELECT p, count(*), sum(id), count(DISTINCT _metadata.file_name) FROM parts GROUP BY p ORDER BY p;
