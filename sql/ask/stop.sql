-- Pauses a task that waits, cancels one that runs, and stops the repetition that an ended one has
-- given rise to. Shows what the task was.
-- $1 id
WITH before AS (
    SELECT t.id, t.state, t.stop, t.next
    FROM :table AS t
    WHERE t.id = $1::int8
    FOR UPDATE
), changed AS (
    UPDATE :table AS t
    SET state = 'STOP'
    FROM before
    WHERE t.id = before.id
    RETURNING t.id
)
SELECT
    textin(enum_out(before.state)),
    before.stop IS NOT NULL,
    coalesce(before.next, 0),
    EXISTS (SELECT FROM changed)
FROM before
