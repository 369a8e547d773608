-- Which other sessions hold an advisory lock with these numbers, and who of them is believed: one
-- whose role could serve the table, or is ours, or a superuser.
-- Anybody else who can connect holds it only to be in the way. Who is not in the list of sessions
-- has come or gone in this moment, and is believed until the next look. A prepared transaction is
-- no session and serves nothing. pg_locks is one look at all advisory locks of the server at one
-- moment.
-- Where each task runs under the role that inserted it, many have those rights, and only who can be
-- the role that serves is believed.
-- $1 the first number, $2 and $3 from and to of the second, $4 how many numbers (1: one of 64 bits;
-- 2: two), $5 schema, $6 table, $7 rights of one who is believed,
-- $8 whether they are those of who serves
SELECT
    coalesce(h.pid, 0),
    h.object::int8,
    h.shared,
    coalesce(:readable(s.role), ''),
    coalesce(host(a.client_addr), ''),
    coalesce(:readable(x.gid), ''),
    coalesce(h.pid IS NOT NULL AND (a.pid IS NULL OR r.rolsuper OR r.rolname = current_user OR CASE WHEN $8::bool
        AND EXISTS (SELECT FROM pg_trigger AS g WHERE g.tgrelid = c.oid AND g.tgname = 'pgtaskd_role')
        THEN pg_has_role(a.usesysid, current_user, :usable) ELSE EXISTS (
        WITH RECURSIVE parts AS (
            SELECT c.oid
            UNION ALL
            SELECT i.inhrelid FROM parts AS p JOIN pg_inherits AS i ON i.inhparent = p.oid WHERE h.shared
        )
        SELECT
        FROM parts AS p
        WHERE p.oid IS NOT NULL AND NOT EXISTS (
            SELECT
            FROM unnest($7::text[]) AS w (needed)
            WHERE has_table_privilege(a.usesysid, p.oid, w.needed) IS NOT TRUE
        )
    ) END), false)
FROM (
    SELECT l.pid, l.virtualtransaction, min(l.objid::int8) AS object, l.mode = 'ShareLock'::text AS shared
    FROM pg_locks AS l
    WHERE l.locktype = 'advisory'::text
        AND l.granted
        AND l.classid = $1::int8::oid
        AND l.objid >= $2::int8::oid
        AND l.objid <= $3::int8::oid
        AND l.objsubid = $4::int2
        AND l.database = (
            SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()
        )
        AND (l.pid IS NULL OR l.pid <> pg_backend_pid())
    GROUP BY l.pid, l.virtualtransaction, l.mode
) AS h
LEFT JOIN LATERAL pg_stat_get_activity(coalesce(h.pid, 0)) AS a ON a.pid = h.pid
LEFT JOIN pg_roles AS r ON r.oid = a.usesysid
:prepared
CROSS JOIN LATERAL (SELECT coalesce(pg_get_userbyid(a.usesysid)::text, x.owner::text) AS role) AS s
LEFT JOIN pg_class AS c ON c.relname = $6::name AND c.relnamespace = (
    SELECT n.oid FROM pg_namespace AS n WHERE n.nspname = $5::name
);
