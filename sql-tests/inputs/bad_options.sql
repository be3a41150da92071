-- A wrong option is named beside those that there are, and the folder stays as it was.
CREATE TABLE t USING parquet AS SELECT /*+ REPARTITION(2) */ id, id AS a FROM range(100);
--! snapshot t

OPTIMIZE t ZORDER BY (a) OPTIONS ('num-file' = '4');
OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '4', 'num-files' = '8');
OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = 'four');
OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '0');
OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '-1');
OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '');
OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files' = '99999999999999999999');
OPTIMIZE t ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '1 GB?');
OPTIMIZE t ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '0');
OPTIMIZE t ZORDER BY (a) OPTIONS ('max-file-group-size-bytes' = '0');
OPTIMIZE t ZORDER BY (a) OPTIONS ('max-concurrent-file-group-rewrites' = 'many');
OPTIMIZE t ZORDER BY (a) OPTIONS ('partial-progress.enabled' = 'perhaps');
OPTIMIZE t ZORDER BY (a) OPTIONS ('partial-progress.max-commits' = '0');
OPTIMIZE t ZORDER BY (a) OPTIONS ('compression' = 'zzz');
OPTIMIZE t ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '256 MiB', 'max-file-size-bytes' = '100 MiB');
OPTIMIZE t ZORDER BY (a) OPTIONS ('target-file-size-bytes' = '256 MiB', 'min-file-size-bytes' = '1 GiB');
OPTIMIZE t ZORDER BY (a) OPTIONS ('min-file-size-bytes' = '1 GiB', 'max-file-size-bytes' = '1 GiB');
OPTIMIZE t ZORDER BY (a) OPTIONS ('num-files');
OPTIMIZE t OPTIONS ('mapping' = 'bytes');
OPTIMIZE t OPTIONS ('cuts' = 'equal');
--! unchanged
