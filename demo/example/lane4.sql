-- Four at once, each with its own length.
INSERT INTO task ("group", max, input)
SELECT 'four at once', 3, format($$SELECT 'file %s' FROM pg_sleep(%s)$$, n, 0.5 + n * 7 % 5 * 0.4)
FROM generate_series(1, 12) AS n
RETURNING id
