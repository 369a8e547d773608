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
    h.object::pg_catalog.int8,
    h.shared,
    coalesce(:readable(s.role), ''),
    coalesce(pg_catalog.host(a.client_addr), ''),
    coalesce(:readable(x.gid), ''),
    coalesce(h.pid IS NOT NULL AND (a.pid IS NULL OR r.rolsuper OR r.rolname OPERATOR(pg_catalog.=) current_user OR CASE WHEN $8::pg_catalog.bool
        AND EXISTS (SELECT FROM pg_catalog.pg_trigger AS g WHERE g.tgrelid OPERATOR(pg_catalog.=) c.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role')
        THEN pg_catalog.pg_has_role(a.usesysid, current_user, :usable) ELSE EXISTS (
        WITH RECURSIVE parts AS (
            SELECT c.oid
            UNION ALL
            SELECT i.inhrelid FROM parts AS p JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) p.oid WHERE h.shared
        )
        SELECT
        FROM parts AS p
        WHERE p.oid IS NOT NULL AND NOT EXISTS (
            SELECT
            FROM pg_catalog.unnest($7::pg_catalog.text[]) AS w (needed)
            WHERE pg_catalog.has_table_privilege(a.usesysid, p.oid, w.needed) IS NOT TRUE
        )
    ) END), false)
FROM (
    SELECT l.pid, l.virtualtransaction, pg_catalog.min(l.objid::pg_catalog.int8) AS object, l.mode OPERATOR(pg_catalog.=) 'ShareLock'::pg_catalog.text AS shared
    FROM pg_catalog.pg_locks AS l
    WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory'::pg_catalog.text
        AND l.granted
        AND l.classid OPERATOR(pg_catalog.=) $1::pg_catalog.int8::pg_catalog.oid
        AND l.objid OPERATOR(pg_catalog.>=) $2::pg_catalog.int8::pg_catalog.oid
        AND l.objid OPERATOR(pg_catalog.<=) $3::pg_catalog.int8::pg_catalog.oid
        AND l.objsubid OPERATOR(pg_catalog.=) $4::pg_catalog.int2
        AND l.database OPERATOR(pg_catalog.=) (
            SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
        )
        AND (l.pid IS NULL OR l.pid OPERATOR(pg_catalog.<>) pg_catalog.pg_backend_pid())
    GROUP BY l.pid, l.virtualtransaction, l.mode
) AS h
LEFT JOIN LATERAL pg_catalog.pg_stat_get_activity(coalesce(h.pid, 0)) AS a ON a.pid OPERATOR(pg_catalog.=) h.pid
LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) a.usesysid
:prepared
CROSS JOIN LATERAL (SELECT coalesce(pg_catalog.pg_get_userbyid(a.usesysid)::pg_catalog.text, x.owner::pg_catalog.text) AS role) AS s
LEFT JOIN pg_catalog.pg_class AS c ON c.relname OPERATOR(pg_catalog.=) $6::pg_catalog.name AND c.relnamespace OPERATOR(pg_catalog.=) (
    SELECT n.oid FROM pg_catalog.pg_namespace AS n WHERE n.nspname OPERATOR(pg_catalog.=) $5::pg_catalog.name
);
