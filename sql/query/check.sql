-- The rows of tasks that should be ours: whether they still are as we wrote them; whether somebody
-- set them to STOP while under way, and they show no end; whether they are prepared and remember a
-- STOP; whether they are prepared, and the server does not say that the transaction was committed.
-- $1 ids, $2 versions of the rows that were read, $3 pids of the sessions, $4 transactions with
-- which the rows are prepared (0: none)
SELECT
    t.id,
    t.state::text,
    CASE
        WHEN t.state = 'PLAN' THEN t.version = e.version
        WHEN t.xact IS NOT NULL THEN t.state = 'WORK' AND t.xact = e.xact
        ELSE t.state = 'WORK' AND t.pid = e.pid
    END IS TRUE,
    t.state = 'STOP' AND NOT t.ended AND (t.stopping OR t.begun) IS TRUE,
    t.xact IS NOT NULL AND t.stopping IS TRUE,
    CASE
        WHEN t.xact IS NULL OR :away THEN false
        WHEN t.xact >= txid_snapshot_xmax(txid_current_snapshot()) THEN true
        ELSE (txid_status(t.xact) = 'committed') IS NOT TRUE
    END
FROM ROWS FROM (
    unnest($1::int8[]),
    unnest($2::int4[]),
    unnest($3::int4[]),
    unnest($4::int8[])
) AS e (id, version, pid, xact)
CROSS JOIN LATERAL (
    SELECT w.id, w.state, w.pid, w.stop IS NOT NULL AS ended, w.start IS NOT NULL AS begun, w.stopping, w.xmin AS version, w.xact, w.xact_at
    FROM :table AS w
    WHERE w.id BETWEEN e.id AND e.id
    ORDER BY w.id
) AS t
