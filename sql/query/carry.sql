-- Decides about some of the tasks that a copy has brought, in the order of due and id. Tasks that
-- wait are paused or given up, if that is wanted. Tasks that were at work lose their process id,
-- which is another server's: they were cut off. A prepared task stays: its transaction decides.
-- Returns how many it found, and the last of them.
-- $1 all, paused or gone, $2 due and $3 id of the last one before, $4 most to find, $5 the reason
WITH these AS MATERIALIZED (
    SELECT t.tableoid AS part, t.ctid AS place, t.state, t.due, t.id
    FROM :table AS t
    WHERE t.due IS NOT NULL
        AND (t.due, t.id) > ($2::timestamptz, $3::int8)
        AND t.xact IS NULL
        AND (t.state <> 'PLAN' OR $1::text <> 'all')
    ORDER BY t.due, t.id
    LIMIT $4::int8
    FOR NO KEY UPDATE OF t
), changed AS (
    UPDATE :table AS t
    SET
        state = CASE
            WHEN $1 = 'paused' THEN 'STOP'
            WHEN $1 = 'gone' THEN 'GONE'
            WHEN true THEN t.state
        END,
        pid = CASE WHEN t.state = 'PLAN' THEN t.pid END,
        start = CASE WHEN $1 = 'gone' THEN coalesce(CASE WHEN t.state <> 'PLAN' THEN t.start END, statement_timestamp()) ELSE t.start END,
        stop = CASE WHEN $1 = 'gone' THEN statement_timestamp() ELSE t.stop END,
        error = CASE WHEN $1 = 'gone' THEN $5::text ELSE t.error END
    FROM these AS s
    WHERE t.ctid = s.place
        AND t.tableoid = s.part
)
SELECT count(*) OVER (), s.due::text, s.id
FROM these AS s
ORDER BY s.due DESC, s.id DESC
LIMIT 1
