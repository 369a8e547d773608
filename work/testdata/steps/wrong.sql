-- Lists the wrong tasks once all have ended.
SELECT json_agg(wrong)
FROM (
    -- Each task's end, and its effects.
    SELECT 'end' AS what, t.data, t.input, t.state, t.attempt, t.interrupted, t.error, e.effects
    FROM task AS t
    CROSS JOIN LATERAL (SELECT count(*) AS effects FROM effect AS e WHERE e.id = t.id) AS e
    WHERE t.parent IS NULL
        AND CASE t.data
            WHEN 'exactly' THEN t.state = 'DONE' AND effects = 1 AND t.attempt - t.interrupted = 1
            WHEN 'nothing' THEN t.state = 'DONE' AND t.attempt - t.interrupted = 1
            WHEN 'least' THEN t.state = 'DONE' AND effects BETWEEN 1 AND 1 + t.interrupted AND t.attempt - t.interrupted = 1
            WHEN 'most' THEN t.state = 'DONE' AND effects = 1 AND t.attempt - t.interrupted = 1
                OR t.state = 'FAIL' AND effects <= 1 AND t.interrupted > 0 AND t.error LIKE 'ERROR:  task was interrupted%rerun is false%'
            WHEN 'nothing at most' THEN t.state = 'DONE'
                OR t.state = 'FAIL' AND t.interrupted > 0 AND t.error LIKE 'ERROR:  task was interrupted%rerun is false%'
            WHEN 'elsewhere' THEN t.attempt - t.interrupted = 1 AND t.state = 'DONE'
                OR NOT t.rerun AND t.state = 'FAIL' AND t.interrupted > 0 AND t.error LIKE 'ERROR:  task was interrupted%rerun is false%'
            WHEN 'never' THEN t.state = 'FAIL' AND t.sqlstate = '22012' AND effects = 0 AND t.attempt - t.interrupted = 3
            WHEN 'stopped' THEN t.state = 'STOP' AND effects = 0
                AND (t.stop >= t.start AND t.sqlstate = '57014' OR num_nonnulls(t.start, t.stop) = 0)
            WHEN 'deleted' THEN t.state = 'DONE'
            WHEN 'gone' THEN t.state = 'GONE' AND effects = 0 AND t.error LIKE 'ERROR:  task not active%' AND t.attempt = 0
        END IS NOT TRUE

    UNION ALL
    -- Where the row is gone.
    SELECT 'deleted', NULL, NULL, NULL, NULL, NULL, NULL, count(*)
    FROM effect
    WHERE who = 'deleted'
    HAVING count(*) <> 1

    UNION ALL
    SELECT 'lost', NULL, NULL, NULL, NULL, NULL, NULL, count(*)
    FROM task
    WHERE parent IS NULL AND data <> 'deleted'
    HAVING count(*) <> 55

    UNION ALL
    -- A task that repeats itself has one child, which waits. Others have none.
    SELECT 'chain', t.data, t.input, t.state, t.attempt, t.interrupted, t.error, count(c.id)
    FROM task AS t
    LEFT JOIN task AS c ON c.parent = t.id
    WHERE t.parent IS NULL
    GROUP BY t.id
    HAVING count(c.id) <> (t.repeat > '0' AND t.state <> 'STOP')::int4 OR t.next IS DISTINCT FROM min(c.id) OR bool_or(c.state <> 'PLAN' OR c.attempt > 0)

    UNION ALL
    -- Runs of a lane do not overlap, and keep their pause. One whose row the dead controller still has locked
    -- may come after the next.
    SELECT 'lane', t.data, t.input, t.state, t.attempt, t.interrupted, t.start || ' ' || o.stop, NULL
    FROM task AS t
    JOIN task AS o USING ("group")
    WHERE t.parent IS NULL AND o.parent IS NULL AND t.id > o.id
        AND ((t.start, t.stop) OVERLAPS (o.start, o.stop)
            OR t."group" = 'pause' AND t.start < o.stop + interval '20 ms' AND o.start < t.stop + interval '20 ms')

    UNION ALL
    SELECT 'key', max(key), NULL, NULL, NULL, NULL, NULL, count(*)
    FROM task
    WHERE state = 'PLAN' AND key IS NOT NULL
    HAVING count(*) <> 1
) AS wrong
