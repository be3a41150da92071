-- Files that are added behind a table format's log are lost to its readers, so such folders are left alone.
CREATE TABLE delta USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
--! write delta/_delta_log/00000000000000000000.json {}
--! snapshot delta
OPTIMIZE delta ZORDER BY (a);
OPTIMIZE parquet.`${dir}/delta` ZORDER BY (a);
OPTIMIZE '${dir}/delta' ZORDER BY (a);
CREATE SKIPPING INDEX ON parquet.`${dir}/delta`;
VACUUM parquet.`${dir}/delta`;
RESTORE parquet.`${dir}/delta` TO VERSION AS OF 0;
--! unchanged
--! forget

CREATE TABLE hudi USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
--! write hudi/.hoodie/hoodie.properties
--! snapshot hudi
OPTIMIZE hudi ZORDER BY (a);
OPTIMIZE parquet.`${dir}/hudi` ZORDER BY (a);
--! unchanged
--! forget

CREATE TABLE iceberg USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
--! write iceberg/metadata/v1.metadata.json {}
--! snapshot iceberg
OPTIMIZE iceberg ZORDER BY (a);
OPTIMIZE parquet.`${dir}/iceberg` ZORDER BY (a);
--! unchanged
--! forget

CREATE TABLE stream USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
--! write stream/_spark_metadata/0 v1
--! snapshot stream
OPTIMIZE stream ZORDER BY (a);
OPTIMIZE parquet.`${dir}/stream` ZORDER BY (a);
--! unchanged
--! forget

-- The log of a table lies above its partitions
CREATE TABLE parts (id BIGINT, a BIGINT, p INT) USING parquet PARTITIONED BY (p);
INSERT INTO parts SELECT /*+ REPARTITION(2) */ id, id, 0 FROM range(100);
--! write parts/_delta_log/00000000000000000000.json {}
--! snapshot parts
OPTIMIZE parquet.`${dir}/parts/p=0` ZORDER BY (a);
--! unchanged
