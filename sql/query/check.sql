-- Where tasks stand that we believe to be ours.
-- $1 ids
SELECT t.id, t.state::text, coalesce(t.pid, 0), t.stop IS NOT NULL, t.state = 'STOP' AND t.stop IS NULL AND t.stopping IS TRUE, t.attempt, t.plan
FROM :table AS t
WHERE t.id = ANY ($1)
