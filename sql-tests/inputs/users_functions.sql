-- A user's function goes before the one of ours with its name, in its database alone.
-- since Spark 4.3
CREATE FUNCTION zvalue(a BIGINT, b BIGINT) RETURNS BIGINT RETURN a * 1000 + b;
SELECT zvalue(1L, 2L) AS z, ZValue(1L, 2L) AS other_case, typeof(zvalue(1L, 2L)) AS type;
SELECT * FROM (SELECT zvalue(id, 2L) AS z FROM range(1, 2));
-- A function of a user finds another
CREATE FUNCTION twice(a BIGINT) RETURNS BIGINT RETURN zvalue(a, a + 1) * 2;
SELECT twice(1L) AS t;
-- In another database the name is ours, and a view means what it meant when it was made
CREATE DATABASE users_functions_elsewhere;
USE users_functions_elsewhere;
CREATE FUNCTION zvalue(a BIGINT, b BIGINT) RETURNS BIGINT RETURN 7;
CREATE VIEW v AS SELECT zvalue(1L, 2L) AS z;
USE default;
SELECT typeof(zvalue(1L, 2L));
SELECT users_functions_elsewhere.zvalue(1L, 2L), spark_catalog.users_functions_elsewhere.ZVALUE(1L, 2L);
SELECT z FROM users_functions_elsewhere.v;
-- Once it is dropped the name is ours again
USE users_functions_elsewhere;
SELECT zvalue(1L, 2L);
DROP VIEW v;
DROP FUNCTION zvalue;
SELECT typeof(zvalue(1L, 2L));
USE default;
DROP DATABASE users_functions_elsewhere CASCADE;
