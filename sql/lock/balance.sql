-- How many tables of this server our controller leads, and how many the one that leads the fewest of
-- those that stand by for this table as our role; NULL: nobody does. Only sessions that live count.
-- $1 and $2 the numbers of the leader's lock, $3 our controller
WITH locks AS (
    SELECT l.pid, l.database, l.classid::int8 AS class, l.objid::int8 >> 24 AS part, l.objid::int8 & 16777215 AS controller
    FROM pg_locks AS l
    WHERE l.locktype = 'advisory'
        AND l.granted
        AND l.objsubid = 2
        AND l.pid IS NOT NULL
        AND l.mode = 'ExclusiveLock'
), leads AS (
    SELECT c.controller, count(*) AS tables
    FROM locks AS c
    JOIN locks AS l ON l.pid = c.pid AND l.database = c.database AND l.class = c.class # 1::int8 AND l.part = c.part AND l.controller = 0
    WHERE c.controller <> 0
    GROUP BY c.controller
)
SELECT
    coalesce((SELECT l.tables FROM leads AS l WHERE l.controller = $3::int8), 0),
    (
        SELECT min(coalesce(l.tables, 0))
        FROM locks AS c
        JOIN LATERAL pg_stat_get_activity(c.pid) AS a ON a.pid = c.pid
        LEFT JOIN leads AS l ON l.controller = c.controller
        WHERE c.class = $1::int4::bit(32)::int8 # 1::int8
            AND c.part = ($2::int4::bit(32)::int8 >> 24)
            AND c.controller NOT IN (0, $3::int8)
            AND c.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
            AND a.usesysid = (SELECT r.oid FROM pg_roles AS r WHERE r.rolname = session_user)
    )
