-- The bytes of a value are in the order of the values, unsigned; null is null, and sorted first.
SELECT hex(ordered_bytes(true)), hex(ordered_bytes(-1Y)), hex(ordered_bytes(1S)), hex(ordered_bytes(1)), hex(ordered_bytes(1L));
SELECT hex(ordered_bytes(1F)), hex(ordered_bytes(-0.0D)), hex(ordered_bytes(0.0D)), hex(ordered_bytes(CAST('NaN' AS DOUBLE)));
SELECT hex(ordered_bytes(1.50BD)), hex(ordered_bytes(CAST(-1 AS DECIMAL(38, 0))));
SELECT hex(ordered_bytes(DATE'1969-12-31')), hex(ordered_bytes(TIMESTAMP_NTZ'1970-01-01 00:00:00'));
SELECT hex(ordered_bytes(INTERVAL '1' YEAR)), hex(ordered_bytes(INTERVAL '-1' SECOND));
SELECT hex(ordered_bytes('ab')), hex(ordered_bytes('')), hex(ordered_bytes(X'00FF'));
SELECT ordered_bytes(NULL), ordered_bytes(CAST(NULL AS INT)), ordered_bytes(CAST(NULL AS STRING));
SELECT count(*) FROM (SELECT id - 500 AS v, lag(id - 500) OVER (ORDER BY ordered_bytes(id - 500)) AS w FROM range(1000))
WHERE v <> w + 1;
SELECT v FROM VALUES (1.5D), (NULL), (-2D), (CAST('NaN' AS DOUBLE)), (CAST('-Infinity' AS DOUBLE)) AS t(v) ORDER BY ordered_bytes(v);
SELECT ordered_bytes(array(1));
SELECT ordered_bytes(named_struct('a', 1));
SELECT ordered_bytes();
SELECT ordered_bytes(1, 2);

-- Rows along the curve
SELECT hex(zvalue(1Y, 2Y)), hex(zvalue(3)), hex(zvalue('a', 'b'));
SELECT hex(zvalue(CAST(NULL AS TINYINT), 2Y)), hex(zvalue(NULL, NULL));
SELECT a, b FROM (SELECT CAST(id DIV 4 AS TINYINT) AS a, CAST(id % 4 AS TINYINT) AS b FROM range(16)) ORDER BY zvalue(a, b);
SELECT zvalue(map(1, 2));

-- Places on the Hilbert curve, of 2 bits each
SELECT y, collect_list(h) FROM (SELECT id DIV 4 AS y, hilbert_value(2, id % 4, id DIV 4) AS h FROM range(16)) GROUP BY y ORDER BY y;
SELECT hilbert_value(31, 5, 7), hilbert_value(3, 5), hilbert_value(2, 1, NULL), hilbert_value(1, 1, 1, 1);
SELECT hilbert_value(2, 4 + 3, 0) = hilbert_value(2, 3, 0);
SELECT hilbert_value(32, 1, 1);
SELECT hilbert_value(0, 1);
SELECT hilbert_value(CAST(NULL AS INT), 1);
SELECT hilbert_value(CAST(id AS INT), id) FROM range(2);
SELECT hilbert_value(3);

-- How many bounds are smaller; 0 for null
SELECT id, range_id(id, array(2, 5, 5)) FROM range(7) ORDER BY id;
SELECT range_id('b', array('a', 'b', 'c')), range_id(NULL, array(1, 2)), range_id(CAST(NULL AS STRING), array('a'));
SELECT range_id(1.5BD, array(1, 2)), range_id(DATE'2020-01-01', array(DATE'2019-01-01')), range_id(1.5D, array(1F, 2F));
SELECT range_id(CAST('NaN' AS DOUBLE), array(0D, double('Infinity'))), range_id(-0.0D, array(0.0D));
SELECT range_id(1, array(2, 1));
SELECT range_id(1, array(1, NULL));
SELECT range_id(1, array('a'));
SELECT range_id(1, 2);
SELECT range_id(1);
SELECT range_id(id, array(id)) FROM range(2);
SELECT range_id(array(1), array(array(1)));

-- Of no argument
SELECT zvalue();
SELECT interleave_bits();
SELECT hilbert_value(1);
