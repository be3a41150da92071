-- What the statements do not take is refused in words, and stays as it was.
CREATE TABLE good USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);

-- Neither a table nor a folder
OPTIMIZE nowhere ZORDER BY (a);
OPTIMIZE no_database.t ZORDER BY (a);
OPTIMIZE parquet.`${dir}/nowhere` ZORDER BY (a);
OPTIMIZE '${dir}/nowhere' ZORDER BY (a);
CREATE SKIPPING INDEX ON nowhere;
CREATE SKIPPING INDEX ON '${dir}/nowhere';
DESCRIBE HISTORY '${dir}/nowhere';
VACUUM '${dir}/nowhere';

-- A view
CREATE VIEW v AS SELECT * FROM good;
--! snapshot good
OPTIMIZE v ZORDER BY (a);
CREATE SKIPPING INDEX ON v;
CREATE TEMPORARY VIEW tv AS SELECT * FROM good;
OPTIMIZE tv ZORDER BY (a);
--! unchanged
--! forget

-- A table of another format
CREATE TABLE j USING json AS SELECT id, id AS a FROM range(100);
--! snapshot j
OPTIMIZE j ZORDER BY (a);
CREATE SKIPPING INDEX ON j;
VACUUM j;
--! unchanged
--! forget

-- A bucketed table
CREATE TABLE bucketed (id BIGINT, a BIGINT) USING parquet CLUSTERED BY (id) INTO 2 BUCKETS;
INSERT INTO bucketed SELECT id, id FROM range(100);
--! snapshot bucketed
OPTIMIZE bucketed ZORDER BY (a);
--! unchanged
--! forget

-- An empty table
CREATE TABLE empty (id BIGINT, a BIGINT) USING parquet;
--! snapshot empty
OPTIMIZE empty ZORDER BY (a);
--! unchanged
--! forget

-- An empty folder
--! mkdir empty_folder
--! snapshot empty_folder
OPTIMIZE parquet.`${dir}/empty_folder` ZORDER BY (a);
OPTIMIZE '${dir}/empty_folder' ZORDER BY (a);
--! unchanged
--! forget

-- One file
CREATE TABLE one USING parquet AS SELECT /*+ COALESCE(1) */ id, id AS a FROM range(100);
--! snapshot one
OPTIMIZE one ZORDER BY (a);
--! unchanged
--! forget

-- A file that is not Parquet
CREATE TABLE damaged USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
--! write damaged/notes.parquet these are words
--! snapshot damaged
OPTIMIZE damaged ZORDER BY (a);
CREATE SKIPPING INDEX ON damaged;
CREATE OR REPLACE SKIPPING INDEX ON damaged (a);
CREATE SKIPPING INDEX ON parquet.`${dir}/damaged`;
CREATE SKIPPING INDEX ON '${dir}/damaged';
--! unchanged
--! forget
-- One that comes later is read, and the others are known as before
--! delete damaged/notes.parquet
CREATE SKIPPING INDEX ON damaged;
--! write damaged/notes.parquet these are words
--! snapshot damaged
REFRESH SKIPPING INDEX ON damaged;
CREATE OR REPLACE SKIPPING INDEX ON damaged;
--! unchanged
--! forget
DESCRIBE SKIPPING INDEX ON damaged;
EXPLAIN SKIPPING SELECT * FROM damaged WHERE a = 1000;

-- A file of no bytes, which Spark takes for a file of no rows
CREATE TABLE hollow USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
--! write hollow/hollow.parquet
CREATE SKIPPING INDEX ON hollow;
DESCRIBE SKIPPING INDEX ON hollow;
EXPLAIN SKIPPING SELECT * FROM hollow WHERE a = 1000;
SELECT count(*), sum(id) FROM hollow WHERE a < 1000;
OPTIMIZE hollow ZORDER BY (a) OPTIONS ('num-files' = '2');
REFRESH SKIPPING INDEX ON hollow;
SELECT count(*), sum(id) FROM hollow WHERE a < 1000;
-- Nothing else is there
CREATE TABLE all_hollow (id BIGINT, a BIGINT) USING parquet;
--! write all_hollow/hollow.parquet
--! snapshot all_hollow
OPTIMIZE all_hollow ZORDER BY (a);
OPTIMIZE parquet.`${dir}/all_hollow` ZORDER BY (a);
--! unchanged
--! forget
CREATE SKIPPING INDEX ON all_hollow;
SELECT count(*) FROM all_hollow WHERE a < 1000;

-- Parquet that is said to be ORC
--! snapshot good
OPTIMIZE orc.`${dir}/good` ZORDER BY (a);
--! unchanged
CREATE SKIPPING INDEX ON orc.`${dir}/good`;
-- Some of them are
CREATE TABLE as_orc USING orc AS SELECT id, id AS a FROM range(10);
--! snapshot as_orc
OPTIMIZE parquet.`${dir}/as_orc` ZORDER BY (a);
--! unchanged

-- What only the catalog knows of a folder
--! forget
CREATE TABLE defaults (id BIGINT) USING parquet;
INSERT INTO defaults SELECT id FROM range(10);
ALTER TABLE defaults ADD COLUMN (c INT DEFAULT 5);
INSERT INTO defaults VALUES (10, 6);
CREATE TABLE buckets USING parquet CLUSTERED BY (id) INTO 2 BUCKETS AS SELECT id FROM range(10);
--! snapshot defaults
--! snapshot buckets
OPTIMIZE parquet.`${dir}/defaults` FULL;
OPTIMIZE parquet.`${dir}/buckets` ORDER BY (id);
--! unchanged
SELECT c, count(*) FROM defaults GROUP BY c ORDER BY c;
