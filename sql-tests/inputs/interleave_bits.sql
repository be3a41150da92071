-- Most significant bit first, round robin; an input that has run out drops out.
SELECT hex(interleave_bits(X'D6', X'61'));
SELECT hex(interleave_bits(X'FF', X'00'));
SELECT hex(interleave_bits(X'FF00', X'00'));
SELECT hex(interleave_bits(X'FF', X'00', X'FF'));
SELECT hex(interleave_bits(X'ABCD'));
SELECT hex(interleave_bits(X'', X'AB'));
SELECT hex(interleave_bits(X'', X''));
SELECT hex(interleave_bits(CAST(NULL AS BINARY), X'AB'));
SELECT hex(interleave_bits(a, b)) FROM VALUES (X'D6', X'61'), (X'00', X'FF'), (NULL, X'0F') AS t(a, b);
SELECT typeof(interleave_bits(X'D6', X'61'));

-- Refused
SELECT interleave_bits();
SELECT interleave_bits(1, 2);
