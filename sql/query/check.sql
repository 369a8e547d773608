-- Where tasks stand that we believe to be ours.
-- $1 ids
SELECT
    t.id,
    t.state::pg_catalog.text,
    coalesce(t.pid, 0),
    t.stop IS NOT NULL,
    t.state OPERATOR(pg_catalog.=) 'STOP' AND t.stop IS NULL AND t.stopping IS TRUE,
    t.attempt,
    t.plan
FROM :table AS t
WHERE t.id OPERATOR(pg_catalog.=) ANY ($1)
