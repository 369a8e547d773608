-- About how many tasks of the table have ended: those on pages that lie at equal distances, times
-- the distance. Statistics may be old, or missing.
-- $1 the distance, $2 pages of the table
SELECT pg_catalog.count(*) OPERATOR(pg_catalog.*) $1::pg_catalog.int8
FROM :table AS t
WHERE t.ctid OPERATOR(pg_catalog.=) ANY (ARRAY(
        SELECT pg_catalog.concat('(', page, ',', line, ')')::pg_catalog.tid
        FROM pg_catalog.generate_series(0::pg_catalog.int8, $2::pg_catalog.int8 OPERATOR(pg_catalog.-) 1, $1) AS page
        CROSS JOIN pg_catalog.generate_series(1, :lines) AS line
    ))
    AND (
        t.state OPERATOR(pg_catalog.=) ANY ('{DONE,FAIL,GONE}')
        OR t.state OPERATOR(pg_catalog.=) 'STOP' AND t.stop IS NOT NULL
    )
