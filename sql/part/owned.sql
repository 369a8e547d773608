-- Changes when somebody else gets what can make SQL run with the table c (the database, the schema n,
-- tables above and below it, types of its columns and what those are made of, functions of its
-- triggers), and when the reason goes to trust who has it.
(
    WITH RECURSIVE above AS (
        SELECT c.oid
        UNION
        SELECT i.inhparent
        FROM above
        JOIN pg_catalog.pg_inherits AS i ON i.inhrelid OPERATOR(pg_catalog.=) above.oid
    ),
    below AS (
        SELECT c.oid
        UNION
        SELECT i.inhrelid
        FROM below
        JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
    ),
    type AS (
        SELECT y.atttypid AS oid
        FROM pg_catalog.pg_attribute AS y
        WHERE y.attrelid OPERATOR(pg_catalog.=) c.oid AND y.attnum OPERATOR(pg_catalog.>) 0
        UNION
        SELECT of.oid
        FROM type
        JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) type.oid
        CROSS JOIN LATERAL (VALUES (t.typbasetype), (t.typelem)) AS of (oid)
    ),
    owned AS (
        SELECT r.oid, r.relowner AS owner
        FROM pg_catalog.pg_class AS r
        WHERE r.oid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT above.oid FROM above UNION SELECT below.oid FROM below))
        UNION ALL
        SELECT t.oid, t.typowner
        FROM type
        JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) type.oid
        UNION ALL
        SELECT p.oid, p.proowner
        FROM pg_catalog.pg_trigger AS g
        JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) g.tgfoid
        WHERE g.tgrelid OPERATOR(pg_catalog.=) c.oid
        UNION ALL
        SELECT n.oid, n.nspowner
        UNION ALL
        SELECT d.oid, d.datdba
        FROM pg_catalog.pg_database AS d
        WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    )
    SELECT pg_catalog.concat(
        pg_catalog.sum(pg_catalog.hashtext(pg_catalog.concat(owned.oid, ' ', owned.owner, ' ', r.rolsuper, ' ', pg_catalog.pg_has_role(r.oid, 'MEMBER')))),
        ' ', (
            SELECT me.rolsuper
            FROM pg_catalog.pg_roles AS me
            WHERE me.rolname OPERATOR(pg_catalog.=) current_user
        )
    )
    FROM owned
    LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) owned.owner
)
