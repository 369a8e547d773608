-- The time in active of the task t, for people: 1 day 2 hours.
concat_ws(
    ' ',
    substring(t.active::text FROM '^.*[a-z]'),
    nullif(date_part('hour', t.active), 0) || CASE date_part('hour', t.active) WHEN 1 THEN ' hour' ELSE ' hours' END,
    nullif(date_part('minute', t.active), 0) || ' min',
    nullif(date_part('second', t.active), 0) || ' s'
)
