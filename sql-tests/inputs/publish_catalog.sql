-- The catalog is told of a new folder, and no file of the table is touched.
CREATE TABLE flat (id BIGINT, a BIGINT) USING parquet LOCATION '${dir}/flat';
INSERT INTO flat SELECT /*+ REPARTITION(4) */ id, id * 7919 % 1000 AS a FROM range(1000);
OPTIMIZE flat ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location', 'num-files' = '4');
SELECT count(*), count(DISTINCT id), sum(a) FROM flat;
EXPLAIN SKIPPING SELECT * FROM flat WHERE a = 7;
DESCRIBE HISTORY flat;

-- Others append.
INSERT INTO flat VALUES (6000, 7);
SELECT id FROM flat WHERE a = 7 AND id >= 5000 ORDER BY id;
OPTIMIZE flat;
RESTORE flat TO VERSION AS OF 0;
SELECT count(*), count(DISTINCT id) FROM flat;
VACUUM flat RETAIN 0 HOURS DRY RUN;
VACUUM flat RETAIN 0 HOURS;
SELECT count(*), count(DISTINCT id) FROM flat;

-- Partitions
CREATE TABLE parts (id BIGINT, a BIGINT, p STRING) USING parquet PARTITIONED BY (p) LOCATION '${dir}/parts';
ALTER TABLE parts SET TBLPROPERTIES ('zorder.commit.mode' = 'new-location');
INSERT INTO parts SELECT /*+ REPARTITION(2) */ id, id * 7919 % 1000 AS a, concat('x %', id % 2) AS p FROM range(1000);
OPTIMIZE parts WHERE p = 'x %1' ZORDER BY (a) OPTIONS ('num-files' = '2');
OPTIMIZE parts ZORDER BY (a) OPTIONS ('num-files' = '4');
OPTIMIZE parts ZORDER BY (a) OPTIONS ('num-files' = '4');
SELECT p, count(*), count(DISTINCT id), sum(a) FROM parts GROUP BY p ORDER BY p;
INSERT INTO parts VALUES (6000, 7, 'x %1'), (6001, 7, 'new');
SELECT id, p FROM parts WHERE a = 7 AND id >= 5000 ORDER BY id;

-- What is refused
CREATE TABLE managed USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
OPTIMIZE managed ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location');
OPTIMIZE managed ZORDER BY (a) OPTIONS ('commit.mode' = 'somehow');
OPTIMIZE parquet.`${dir}/parts` ZORDER BY (a) OPTIONS ('commit.mode' = 'new-location');
OPTIMIZE flat OPTIONS ('commit.mode' = 'in-place');
OPTIMIZE flat FULL OPTIONS ('partial-progress.enabled' = 'true');
OPTIMIZE parquet.`${dir}/flat` ZORDER BY (a);
VACUUM parquet.`${dir}/flat`;
CREATE TABLE other (id BIGINT, a BIGINT) USING parquet LOCATION '${dir}/flat';
OPTIMIZE flat FULL;
