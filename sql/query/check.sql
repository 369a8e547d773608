-- Where tasks stand that we believe to be ours, and the version of their rows.
-- $1 ids
SELECT
    t.id,
    t.state::pg_catalog.text,
    coalesce(t.pid, 0),
    t.state OPERATOR(pg_catalog.=) 'STOP' AND NOT t.ended AND (t.stopping OR t.begun) IS TRUE,
    t.version
FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT w.id, w.state, w.pid, w.stop IS NOT NULL AS ended, w.start IS NOT NULL AS begun, w.stopping, w.xmin AS version
    FROM :table AS w
    WHERE w.id OPERATOR(pg_catalog.>=) l.id
        AND w.id OPERATOR(pg_catalog.<=) l.id
    ORDER BY w.id
) AS t
