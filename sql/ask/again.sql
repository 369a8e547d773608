-- Lets an ended task run again. Shows what the task was.
-- $1 id
WITH before AS (
    SELECT t.id, t.state, t.stop, t.next
    FROM :table AS t
    WHERE t.id = $1::int8
    FOR UPDATE
), changed AS (
    UPDATE :table AS t
    SET state = 'PLAN'
    FROM before
    WHERE t.id = before.id
        AND (before.state = ANY ('{DONE,FAIL,GONE}') OR before.state = 'STOP' AND before.stop IS NOT NULL)
    RETURNING t.id
)
SELECT
    textin(enum_out(before.state)),
    before.stop IS NOT NULL,
    coalesce(before.next, 0),
    EXISTS (SELECT FROM changed)
FROM before
