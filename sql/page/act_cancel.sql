-- Cancels tasks. The leader cancels what runs, and writes its end; what waits or is paused ends
-- here, as tasks end that are given up. Tasks that wait for it learn of that from the leader.
-- $1 ids, $2 the error
WITH cancelled AS (
    UPDATE :table AS t
    SET
        state = 'STOP',
        start = CASE WHEN t.state = ANY ('{TAKE,WORK}') THEN t.start ELSE statement_timestamp() END,
        stop = CASE WHEN t.state = ANY ('{TAKE,WORK}') THEN t.stop ELSE statement_timestamp() END,
        error = CASE WHEN t.state = ANY ('{TAKE,WORK}') THEN t.error ELSE :error END,
        sqlstate = CASE WHEN t.state = ANY ('{TAKE,WORK}') THEN t.sqlstate ELSE '57014' END,
        awaits = CASE WHEN t.state = ANY ('{TAKE,WORK}') THEN t.awaits END,
        freed = CASE WHEN t.state = ANY ('{TAKE,WORK}') THEN t.freed END
    WHERE :those
        AND :can_cancel
    RETURNING t.id, t.stop, t.notify
)
SELECT c.id, CASE WHEN c.stop IS NOT NULL AND c.notify IS NOT NULL THEN pg_notify(c.notify, concat('{"id": ', c.id, ', "state": "STOP"}')) END
FROM cancelled AS c
