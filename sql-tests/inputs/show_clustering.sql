-- One row for each table, first those that an OPTIMIZE would gain most for.
CREATE TABLE fresh USING parquet TBLPROPERTIES ('zorder.optimize.by' = 'a, b') AS
SELECT /*+ REPARTITION(8, id) */ id, pmod(hash(id), 1000) AS a, pmod(hash(id, 1), 1000) AS b FROM range(20000);
CREATE TABLE small USING orc AS SELECT /*+ REPARTITION(5, id) */ id FROM range(100);
CREATE TABLE done USING parquet AS SELECT /*+ REPARTITION(4, id) */ id, pmod(hash(id), 1000) AS a FROM range(20000);
OPTIMIZE done ZORDER BY (a WEIGHT 2, id) OPTIONS ('num-files' = '8');
CREATE TABLE grown USING parquet PARTITIONED BY (p) AS SELECT /*+ REPARTITION(4, id) */ id, pmod(hash(id), 1000) AS a, id % 2 AS p FROM range(20000);
OPTIMIZE grown ORDER BY (a) OPTIONS ('num-files' = '8');
INSERT INTO grown SELECT /*+ REPARTITION(1) */ id, id, 0 FROM range(300);
CREATE TABLE empty (a INT) USING parquet;
CREATE TABLE js USING json AS SELECT 1 AS a;
CREATE VIEW v AS SELECT * FROM small;
CREATE TABLE wrong USING parquet TBLPROPERTIES ('zorder.optimize.by' = 'missing') AS SELECT 1 AS a;
SHOW CLUSTERING;
OPTIMIZE fresh;
OPTIMIZE small;
SHOW CLUSTERING;
SHOW CLUSTERING IN no_such_database;
SHOW CLUSTERING IN a.b.c;
SHOW CLUSTERING OF t;

-- Nothing else runs in this session
SHOW OPERATIONS;
SHOW OPERATIONS t;
