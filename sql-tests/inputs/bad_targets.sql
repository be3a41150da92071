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
--! unchanged
--! forget
-- An index of the others is of use, and that one is read as before
CREATE SKIPPING INDEX ON damaged;
DESCRIBE SKIPPING INDEX ON damaged;
EXPLAIN SKIPPING SELECT * FROM damaged WHERE a = 1000;

-- A file of no bytes, which Spark takes for a file of no rows
CREATE TABLE hollow USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
--! write hollow/hollow.parquet
OPTIMIZE hollow ZORDER BY (a) OPTIONS ('num-files' = '2');
SELECT count(*), sum(id) FROM hollow;

-- Parquet that is said to be ORC
--! snapshot good
OPTIMIZE orc.`${dir}/good` ZORDER BY (a);
--! unchanged
