-- Rows are placed by attributes of dimensions, which are not written
CREATE TABLE sales USING parquet AS SELECT /*+ REPARTITION(4) */ CAST(id AS INT) AS id,
  CAST(id * 7919 % 420 AS INT) AS customer, CAST(id * 31 % 97 AS INT) AS day FROM range(4000);
CREATE TABLE customer USING parquet AS
SELECT CAST(id AS INT) AS key, concat('city', CAST(id / 20 AS INT)) AS city, CAST(id % 7 AS INT) AS size FROM range(400);
CREATE TEMPORARY VIEW days AS SELECT CAST(id AS INT) AS day, CAST(id / 7 AS INT) AS week FROM range(97);

OPTIMIZE sales JOIN customer ON customer = key ZORDER BY (city, day) OPTIONS ('num-files' = '20');
SELECT count(*), count(DISTINCT id), sum(customer), sum(day) FROM sales;
SELECT count(DISTINCT _metadata.file_name) BETWEEN 16 AND 25 AS as_asked FROM sales;
DESCRIBE HISTORY sales;

-- A join with a filtered dimension reads few files
SELECT count(DISTINCT sales._metadata.file_name) < 9 AS few FROM sales JOIN customer ON customer = key WHERE city = 'city7';

-- What is in the layout already is left alone. New rows go to the same places
OPTIMIZE sales;
INSERT INTO sales SELECT CAST(4000 + id AS INT), CAST(id % 420 AS INT), CAST(id % 97 AS INT) FROM range(200);
OPTIMIZE sales;
SELECT count(*), count(DISTINCT id), sum(customer), sum(day) FROM sales;

-- Several dimensions, in either order, and names with their tables
OPTIMIZE sales JOIN default_name ON a = b ZORDER BY (c);
OPTIMIZE sales FULL JOIN customer ON customer.key = sales.customer JOIN days ON days.day = sales.day
HILBERT BY (days.week WEIGHT 2, city) OPTIONS ('num-files' = '8');
SELECT count(*), count(DISTINCT id), sum(customer), sum(day) FROM sales;

-- Nothing is written
OPTIMIZE sales JOIN customer ON customer = key ORDER BY (size) OPTIONS ('num-files' = '8') DRY RUN;

-- Errors
OPTIMIZE sales JOIN customer ON customer = key;
OPTIMIZE sales JOIN customer ON customer = key ZORDER BY AUTO;
OPTIMIZE sales JOIN customer ON customer = key ZORDER BY (day);
OPTIMIZE sales JOIN customer ON customer = key JOIN days ON sales.day = days.day ZORDER BY (city, day, week);
OPTIMIZE sales JOIN customer ON customer = id ZORDER BY (city);
OPTIMIZE sales JOIN sales ON customer = id ZORDER BY (day);
OPTIMIZE sales JOIN customer ZORDER BY (city);
INSERT INTO customer VALUES (17, 'city0', 1);
OPTIMIZE sales JOIN customer ON customer = key ZORDER BY (city);
DROP TABLE customer;
OPTIMIZE sales;
