-- Writes the ends of tasks that were set to STOP and whose controller cannot do it any more. None
-- is touched whose backend lives, as in cut.
-- $1 ids, $2 sessions that are ours, $3 whether to say nothing
WITH halted AS MATERIALIZED (
    SELECT t.part, t.place
    FROM unnest($1::int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id >= l.id
            AND t.id <= l.id
            AND t.state = 'STOP'
            AND t.stopping
            AND t.stop IS NULL
            AND (
                t.remote <> ''
                OR NOT EXISTS (
                    SELECT
                    FROM pg_stat_get_activity(t.pid) AS a
                    WHERE a.pid = t.pid
                        AND a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                        AND (a.backend_start IS NULL OR a.backend_start <= t.start)
                        AND a.pid <> ALL ($2::int4[])
                )
            )
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    start = coalesce(t.start, statement_timestamp()),
    stop = statement_timestamp(),
    stopping = NULL,
    output = CASE WHEN $3::bool THEN t.output END,
    error = CASE WHEN $3 THEN t.error ELSE E'ERROR:  canceling statement due to user request\nDETAIL:  '
        'Its state was set to STOP while it was under way; the controller that had taken it could not say how it ended.' END,
    sqlstate = CASE WHEN $3 THEN t.sqlstate ELSE '57014' END,
    notice = CASE WHEN $3 THEN t.notice END
FROM halted AS h
WHERE t.ctid = h.place
    AND t.tableoid = h.part
RETURNING
    t.id,
    t.notify IS NOT NULL,
    :last_words
