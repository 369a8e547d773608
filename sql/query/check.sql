-- Where tasks stand that we believe to be ours, the version of their rows, the transaction with which
-- they are prepared, and whether such a row remembers a STOP.
-- $1 ids
SELECT
    t.id,
    t.state::text,
    coalesce(t.pid, 0),
    t.state = 'STOP' AND NOT t.ended AND (t.stopping OR t.begun) IS TRUE,
    t.version,
    coalesce(t.xact, 0),
    t.xact IS NOT NULL AND t.stopping IS TRUE
FROM unnest($1::int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT w.id, w.state, w.pid, w.stop IS NOT NULL AS ended, w.start IS NOT NULL AS begun, w.stopping, w.xmin AS version, :xact_of_w AS xact
    FROM :table AS w
    WHERE w.id >= l.id
        AND w.id <= l.id
    ORDER BY w.id
) AS t
