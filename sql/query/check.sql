-- Where tasks stand that we believe to be ours, and the version of their rows.
-- $1 ids
SELECT
    t.id,
    t.state::text,
    coalesce(t.pid, 0),
    t.state = 'STOP' AND NOT t.ended AND (t.stopping OR t.begun) IS TRUE,
    t.version
FROM unnest($1::int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT w.id, w.state, w.pid, w.stop IS NOT NULL AS ended, w.start IS NOT NULL AS begun, w.stopping, w.xmin AS version
    FROM :table AS w
    WHERE w.id >= l.id
        AND w.id <= l.id
    ORDER BY w.id
) AS t
