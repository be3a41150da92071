-- Tables whose rows an exchange of files could lose or double are refused, and stay as they were.

-- Options that choose files by their names, their times or their folders
CREATE TABLE plain USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
CREATE TABLE by_name (id BIGINT, a BIGINT) USING parquet OPTIONS ('pathGlobFilter' 'part-0*') LOCATION '${dir}/plain';
CREATE TABLE by_end (id BIGINT, a BIGINT) USING parquet OPTIONS ('pathGlobFilter' '*.parquet') LOCATION '${dir}/plain';
CREATE TABLE by_time (id BIGINT, a BIGINT) USING parquet OPTIONS ('modifiedBefore' '2999-01-01T00:00:00') LOCATION '${dir}/plain';
CREATE TABLE deep (id BIGINT, a BIGINT) USING parquet OPTIONS ('recursiveFileLookup' 'true') LOCATION '${dir}/plain';
CREATE TABLE careless (id BIGINT, a BIGINT) USING parquet OPTIONS ('ignoreMissingFiles' 'true') LOCATION '${dir}/plain';
CREATE TABLE by_place (id BIGINT, a BIGINT) USING orc OPTIONS ('orc.force.positional.evolution' 'true');
INSERT INTO by_place SELECT /*+ REPARTITION(2) */ id, id FROM range(100);
--! snapshot plain
--! snapshot by_place
OPTIMIZE by_name ZORDER BY (a);
OPTIMIZE by_time ZORDER BY (a);
OPTIMIZE deep ZORDER BY (a);
OPTIMIZE careless ZORDER BY (a);
OPTIMIZE by_place ZORDER BY (a);
--! unchanged
--! forget
-- What we write ends like this
OPTIMIZE by_end ZORDER BY (a) OPTIONS ('num-files' = '3');
SELECT count(*), sum(id) FROM by_end;

-- Two partitions of one folder, and one in another
CREATE TABLE parts (id BIGINT, a BIGINT, p INT) USING parquet PARTITIONED BY (p);
INSERT INTO parts SELECT /*+ REPARTITION(2) */ id, id, 1 FROM range(100);
ALTER TABLE parts ADD PARTITION (p = 2) LOCATION '${dir}/parts/p=1';
--! snapshot parts
OPTIMIZE parts ZORDER BY (a);
OPTIMIZE parts WHERE p = 1 ZORDER BY (a);
--! unchanged
--! forget
ALTER TABLE parts DROP PARTITION (p = 2);
INSERT INTO parts SELECT /*+ REPARTITION(2) */ id, id, 1 FROM range(100);
ALTER TABLE parts ADD PARTITION (p = 3) LOCATION '${dir}/parts/p=1/within';
INSERT INTO parts SELECT id, id, 3 FROM range(100);
--! snapshot parts
OPTIMIZE parts ZORDER BY (a);
--! unchanged

-- The option for timestamps of other writers
OPTIMIZE plain ZORDER BY (a) OPTIONS ('allow-nanosecond-loss' = 'maybe');

-- A summary file names the data files
SET parquet.summary.metadata.level = ALL;
CREATE TABLE summed USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
OPTIMIZE plain ZORDER BY (id) OPTIONS ('num-files' = '3');
RESET parquet.summary.metadata.level;
-- The rewrite under this setting left none
OPTIMIZE plain ZORDER BY (a) OPTIONS ('num-files' = '2');
--! snapshot summed
OPTIMIZE summed ZORDER BY (a);
--! unchanged
