-- Lets an ended task run again. Shows what the task was.
-- $1 id
WITH before AS (
    SELECT t.id, t.state, t.stop, t.next
    FROM :table AS t
    WHERE t.id OPERATOR(pg_catalog.=) $1::pg_catalog.int8
    FOR UPDATE
), changed AS (
    UPDATE :table AS t
    SET state = 'PLAN'
    FROM before
    WHERE t.id OPERATOR(pg_catalog.=) before.id
        AND (before.state OPERATOR(pg_catalog.=) ANY ('{DONE,FAIL,GONE}') OR before.state OPERATOR(pg_catalog.=) 'STOP' AND before.stop IS NOT NULL)
    RETURNING t.id
)
SELECT
    pg_catalog.textin(pg_catalog.enum_out(before.state)),
    before.stop IS NOT NULL,
    coalesce(before.next, 0),
    EXISTS (SELECT FROM changed)
FROM before
