-- About how many tasks of the table have ended: those on pages that lie at equal distances, times
-- the distance. Statistics may be old, or missing.
-- $1 the distance, $2 pages of the table
SELECT count(*) * $1::int8
FROM :table AS t
WHERE t.ctid = ANY (ARRAY(
        SELECT concat('(', page, ',', line, ')')::tid
        FROM generate_series(0::int8, $2::int8 - 1, $1) AS page
        CROSS JOIN generate_series(1, :lines) AS line
    ))
    AND (
        t.state = ANY ('{DONE,FAIL,GONE}')
        OR t.state = 'STOP' AND t.stop IS NOT NULL
    )
