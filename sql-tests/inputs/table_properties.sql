-- What table properties say holds for each OPTIMIZE that does not say it itself.
CREATE TABLE t USING parquet TBLPROPERTIES ('zorder.optimize.by' = 'a WEIGHT 2, s.`x,y`') AS
SELECT /*+ REPARTITION(8, id) */ id, pmod(hash(id), 1000) AS a, named_struct('x,y', pmod(hash(id, 1), 1000)) AS s FROM range(20000);
OPTIMIZE t OPTIONS ('num-files' = '16');
DESCRIBE DETAIL t;
DESCRIBE HISTORY t;

-- A statement wins, and then the last layout.
OPTIMIZE t HILBERT BY (id) OPTIONS ('num-files' = '4');
OPTIMIZE t;

-- A size and a time for every run, unless the statement says another.
ALTER TABLE t SET TBLPROPERTIES ('zorder.target-file-size-bytes' = '50KB', 'zorder.retain-hours' = '1');
OPTIMIZE t FULL;
OPTIMIZE t FULL OPTIONS ('num-files' = '2', 'retain-hours' = '3');
DESCRIBE HISTORY t;

-- Other curves, and no table property for a folder.
CREATE TABLE h USING orc TBLPROPERTIES ('zorder.optimize.by' = 'hilbert by (a, b)') AS
SELECT /*+ REPARTITION(4, id) */ id, pmod(hash(id), 100) AS a, pmod(hash(id, 1), 100) AS b FROM range(2000);
OPTIMIZE h OPTIONS ('num-files' = '4') DRY RUN;
ALTER TABLE h SET TBLPROPERTIES ('zorder.optimize.by' = 'ORDER BY b');
OPTIMIZE h OPTIONS ('num-files' = '4');

-- Wrong values are refused before anything is read.
--! snapshot h
ALTER TABLE h SET TBLPROPERTIES ('zorder.target-file-size-bytes' = 'large');
OPTIMIZE h;
OPTIMIZE h ZORDER BY (a) OPTIONS ('num-files' = '8') DRY RUN;
ALTER TABLE h SET TBLPROPERTIES ('zorder.target-file-size-bytes' = '8MB', 'zorder.retain-hours' = '-1');
OPTIMIZE h;
ALTER TABLE h UNSET TBLPROPERTIES ('zorder.retain-hours');
--! unchanged
--! forget
CREATE TABLE w USING parquet TBLPROPERTIES ('zorder.optimize.by' = 'a b') AS SELECT /*+ REPARTITION(2, id) */ id AS a FROM range(100);
--! snapshot w
OPTIMIZE w;
ALTER TABLE w SET TBLPROPERTIES ('zorder.optimize.by' = 'missing');
OPTIMIZE w;
ALTER TABLE w SET TBLPROPERTIES ('zorder.optimize.by' = 'a WEIGHT -1');
OPTIMIZE w;
--! unchanged
