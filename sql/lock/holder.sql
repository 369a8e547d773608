-- The other session or prepared transaction that holds an advisory lock of this database: its
-- process id or 0, its role, and how to end it. As bytes, since some names cannot be sent as text.
-- $1 and $2 the numbers of the lock
SELECT
    coalesce(h.pid, 0),
    decode(replace(coalesce(s.role, ''), E'\\', E'\\\\'), 'escape'),
    decode(replace(CASE WHEN h.pid IS NULL
        THEN concat('prepared transaction ', x.gid, ' of role ', s.role, ': ROLLBACK PREPARED ', quote_literal(x.gid))
        ELSE concat('pid ', h.pid, ' of role ', s.role, ' from ', coalesce(host(a.client_addr), 'this machine or unknown'),
            ': SELECT pg_terminate_backend(', h.pid, ')')
    END, E'\\', E'\\\\'), 'escape')
FROM pg_locks AS h
LEFT JOIN LATERAL pg_stat_get_activity(coalesce(h.pid, 0)) AS a ON a.pid = h.pid
:prepared
CROSS JOIN LATERAL (SELECT coalesce(pg_get_userbyid(a.usesysid)::text, x.owner::text) AS role) AS s
WHERE h.locktype = 'advisory'
    AND h.granted
    AND h.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
    AND h.classid::int8 = $1::int4::bit(32)::int8
    AND h.objid::int8 = $2::int4::bit(32)::int8
    AND h.objsubid = 2
    AND (h.pid IS NULL OR h.pid <> pg_backend_pid())
LIMIT 1;
