-- A wrong column is named, and the folder stays as it was.
CREATE TABLE t (id BIGINT, a BIGINT, b STRING, s STRUCT<x: INT>, xs ARRAY<INT>, m MAP<STRING, INT>, v VARIANT, p INT)
USING parquet PARTITIONED BY (p);
INSERT INTO t
SELECT /*+ REPARTITION(2) */ id, id, 'b', named_struct('x', 1), array(1), map('k', 1), parse_json('1'), 0 FROM range(100);
--! snapshot t

OPTIMIZE t ZORDER BY (aa);
OPTIMIZE t ZORDER BY (s.y);
OPTIMIZE t ZORDER BY (a.x);
OPTIMIZE t ZORDER BY (a, a);
OPTIMIZE t ZORDER BY (a, A);
OPTIMIZE t ZORDER BY (s.x, S.X);
OPTIMIZE t ZORDER BY (p);
OPTIMIZE t ZORDER BY (xs);
OPTIMIZE t ZORDER BY (m);
OPTIMIZE t ZORDER BY (v);
OPTIMIZE t ZORDER BY (s);
OPTIMIZE t ZORDER BY (a WEIGHT 0);
OPTIMIZE t ZORDER BY ();

CREATE SKIPPING INDEX ON t (aa);
CREATE SKIPPING INDEX ON t (a, a);
CREATE SKIPPING INDEX ON t (xs);
CREATE SKIPPING INDEX ON t (m);
CREATE SKIPPING INDEX ON t (v);
DESCRIBE CLUSTERING t (aa);
--! unchanged
