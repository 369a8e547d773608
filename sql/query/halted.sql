-- Writes the ends of tasks that were set to STOP and whose controller cannot do it any more. None is touched whose backend lives, as in cut.
-- $1 ids, $2 sessions that are ours, $3 beginning of the application_name of the target's sessions
WITH halted AS MATERIALIZED (
    SELECT t.id
    FROM unnest($1::int8[]) AS l (id)
    JOIN :table AS t USING (id)
    WHERE t.state = 'STOP'
        AND t.stopping
        AND t.stop IS NULL
        AND CASE WHEN t.start IS NOT NULL THEN
            t.remote <> ''
            OR NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_stat_get_activity(t.pid) AS a
                WHERE a.pid = t.pid AND (a.backend_start IS NULL OR a.backend_start <= t.start) AND a.pid <> ALL ($2::int4[])
            )
        ELSE NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_stat_activity AS a
                WHERE a.datname = pg_catalog.current_database()
                    AND left(a.application_name, length($3)) = $3
                    AND a.state <> 'idle'
                    AND a.pid <> ALL ($2::int4[])
            )
        END
    ORDER BY t.id
    FOR UPDATE OF t SKIP LOCKED
)
UPDATE :table AS t
SET
    start = coalesce(t.start, statement_timestamp()),
    stop = statement_timestamp(),
    stopping = NULL,
    output = NULL,
    error = 'ERROR:  canceling statement due to user request' || E'\nDETAIL:  '
        || 'Its state was set to STOP while it was under way; the controller that had taken it could not say how it ended.',
    sqlstate = '57014',
    notice = NULL
FROM halted
WHERE t.id = halted.id
