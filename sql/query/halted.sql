-- Writes the ends of tasks that were set to STOP and whose controller cannot do it any more. None
-- is touched whose backend lives, as in cut.
-- $1 ids, $2 sessions that are ours, $3 whether to say nothing
WITH halted AS MATERIALIZED (
    SELECT t.part, t.place
    FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) l.id
            AND t.id OPERATOR(pg_catalog.<=) l.id
            AND t.state OPERATOR(pg_catalog.=) 'STOP'
            AND t.stopping
            AND t.stop IS NULL
            AND (
                t.remote OPERATOR(pg_catalog.<>) ''
                OR NOT EXISTS (
                    SELECT
                    FROM pg_catalog.pg_stat_get_activity(t.pid) AS a
                    WHERE a.pid OPERATOR(pg_catalog.=) t.pid
                        AND a.datid OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
                        AND (a.backend_start IS NULL OR a.backend_start OPERATOR(pg_catalog.<=) t.start)
                        AND a.pid OPERATOR(pg_catalog.<>) ALL ($2::pg_catalog.int4[])
                )
            )
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    start = coalesce(t.start, pg_catalog.statement_timestamp()),
    stop = pg_catalog.statement_timestamp(),
    stopping = NULL,
    output = CASE WHEN $3::pg_catalog.bool THEN t.output END,
    error = CASE WHEN $3 THEN t.error ELSE E'ERROR:  canceling statement due to user request\nDETAIL:  '
        'Its state was set to STOP while it was under way; the controller that had taken it could not say how it ended.' END,
    sqlstate = CASE WHEN $3 THEN t.sqlstate ELSE '57014' END,
    notice = CASE WHEN $3 THEN t.notice END
FROM halted AS h
WHERE t.ctid OPERATOR(pg_catalog.=) h.place
    AND t.tableoid OPERATOR(pg_catalog.=) h.part
RETURNING
    t.id,
    t.notify IS NOT NULL,
    :last_words
