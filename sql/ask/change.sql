-- Stops a task: pauses it if it waits, cancels it if it runs, stops its repetition if it has ended.
-- Or runs an ended task again. Returns the task's former state.
-- $1 id, $2 whether to stop it
WITH before AS (
    SELECT t.id, t.state, t.stop, t.next
    FROM :table AS t
    WHERE t.id = $1::int8
    FOR UPDATE
), changed AS (
    UPDATE :table AS t
    SET state = CASE WHEN $2::bool THEN 'STOP' WHEN true THEN 'PLAN' ELSE t.state END
    FROM before
    WHERE t.id = before.id
        AND ($2 OR :can_again)
    RETURNING t.id
)
SELECT
    textin(enum_out(before.state)),
    before.stop IS NOT NULL,
    coalesce(before.next, 0),
    EXISTS (SELECT FROM changed)
FROM before
