-- A negative max: one at a time, with a pause of this many milliseconds between two tasks.
INSERT INTO task ("group", max, input)
SELECT 'pause 1.5 s', -1500, $$SELECT to_char(now(), 'HH24:MI:SS.MS')$$
FROM generate_series(1, 4)
RETURNING id
