-- Why a row does not take the preparation of its run: whether it is still as it was read; whether
-- the run itself has locked it; whether somebody else has; whether the run has a lock on the table
-- (the server does not show who has locked a row if a savepoint or several sessions did); whether
-- nobody has locked the row; whether the session is there.
-- $1 id, $2 version of the row that was read, $3 pid of the session, $4 when that session began
WITH found AS MATERIALIZED (
    SELECT t.tableoid, t.xmax, t.state = 'PLAN' AND t.xmin = $2::int4 OR t.state = 'WORK' AND t.pid = $3::int4 AND t.xact IS NULL AS ours
    FROM :table AS t
    WHERE t.id BETWEEN $1::int8 AND $1::int8
    ORDER BY t.id
),
free AS MATERIALIZED (
    SELECT t.id
    FROM :table AS t
    WHERE t.id BETWEEN $1 AND $1
    ORDER BY t.id
    FOR NO KEY UPDATE SKIP LOCKED
),
locker AS MATERIALIZED (
    SELECT l.pid
    FROM pg_locks AS l
    JOIN found AS f ON f.ours AND l.transactionid = f.xmax
    WHERE l.locktype = 'transactionid'
        AND l.granted
)
SELECT
    coalesce((SELECT bool_or(f.ours) FROM found AS f), false),
    EXISTS (SELECT FROM locker AS l WHERE l.pid = $3),
    EXISTS (SELECT FROM locker AS l WHERE l.pid IS DISTINCT FROM $3),
    EXISTS (
        SELECT
        FROM pg_locks AS l
        WHERE l.locktype = 'relation'
            AND l.granted
            AND l.pid = $3
            AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            AND (l.relation = :table_number::oid OR l.relation IN (SELECT f.tableoid FROM found AS f))
            AND l.mode <> 'AccessShareLock'
    ),
    EXISTS (SELECT FROM free),
    EXISTS (SELECT FROM pg_stat_get_activity($3) AS a WHERE (a.backend_start = $4::timestamptz) IS NOT FALSE)
