-- $1 input, $2 lanes, $3 max, $4 save, $5 remote, $6 tasks
INSERT INTO task (input, "group", max, save, remote)
SELECT
    $1,
    CASE WHEN $2::int4 = 1 THEN 'group' ELSE 'lane ' || i % $2 END,
    $3,
    $4,
    $5
FROM generate_series(1, $6::int4) AS i
