-- Types that Spark 3.5 lacks.
-- since Spark 4.0
SELECT ordered_bytes('A' COLLATE UTF8_LCASE) = ordered_bytes('a' COLLATE UTF8_LCASE);
CREATE TABLE t (id BIGINT, v VARIANT) USING parquet;
INSERT INTO t SELECT /*+ REPARTITION(2) */ id, parse_json('1') FROM range(100);
--! snapshot t
OPTIMIZE t ZORDER BY (v);
CREATE SKIPPING INDEX ON t (v);
DESCRIBE CLUSTERING t (v);
--! unchanged
