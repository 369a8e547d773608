-- Changes when somebody else gets what can make SQL run with the table c: the database, the schema n,
-- tables above and below it, types of its columns and what those are made of, functions of triggers
-- of it and of those below it, and what stands beside it; when others get rights to that or to the
-- schema; and when anything of such a trigger changes, or a setting of its function, as
-- inspect/below.sql looks at both.
(
    WITH RECURSIVE parent AS (
        SELECT c.oid
        UNION
        SELECT i.inhparent
        FROM parent
        JOIN pg_inherits AS i ON i.inhrelid = parent.oid
    ),
    child AS (
        SELECT c.oid
        UNION
        SELECT i.inhrelid
        FROM child
        JOIN pg_inherits AS i ON i.inhparent = child.oid
    ),
    type AS (
        SELECT y.atttypid AS oid
        FROM pg_attribute AS y
        WHERE y.attrelid = ANY (ARRAY(
                SELECT c.oid
                UNION
                SELECT r.oid -- a partition has no columns of its own
                FROM child
                JOIN pg_class AS r ON r.oid = child.oid AND NOT r.relispartition
            ))
            AND y.attnum > 0
        UNION
        SELECT of.oid
        FROM type
        JOIN pg_type AS t ON t.oid = type.oid
            AND type.oid >= 16384::oid -- the server's own are made of such
        :made_of
    ),
    owned AS (
        SELECT r.oid, r.relowner AS owner, NULL::text AS besides
        FROM pg_class AS r
        WHERE r.oid = ANY (ARRAY(SELECT parent.oid FROM parent UNION SELECT child.oid FROM child))
        UNION ALL
        SELECT r.oid, r.relowner, r.relacl::text
        FROM pg_class AS r
        WHERE r.relnamespace = n.oid AND r.relname = ANY (:besides::name[])
        UNION ALL
        SELECT t.oid, t.typowner, NULL
        FROM type
        JOIN pg_type AS t ON t.oid = type.oid
        UNION ALL
        SELECT p.oid, p.proowner, concat(fires.triggers, ' ', p.proconfig)
        FROM (
            SELECT g.tgfoid, sum(hashtextextended(g.xmin::text, g.oid::int8)) AS triggers
            FROM pg_trigger AS g
            WHERE g.tgrelid = ANY (ARRAY(SELECT child.oid FROM child))
                AND (
                    NOT g.tgisinternal OR g.tgdeferrable OR g.tgfoid >= 16384::oid -- up to 14 those of partitions are internal
                    OR g.tgconstrrelid <> 0::oid -- a foreign key of another table's may refer to this one
                )
            GROUP BY g.tgfoid
        ) AS fires
        JOIN pg_proc AS p ON p.oid = fires.tgfoid
        UNION ALL
        SELECT p.oid, p.proowner, p.xmin::text
        FROM unnest(:besides::name[]) AS w (name)
        JOIN pg_proc AS p ON p.pronamespace = n.oid AND p.proname = w.name
            AND p.proargtypes = CASE WHEN w.name ~ '_why$' THEN '20' ELSE '' END::oidvector -- as in inspect/beside.sql
        UNION ALL
        SELECT n.oid, n.nspowner, n.nspacl::text
        UNION ALL
        SELECT d.oid, d.datdba, NULL
        FROM pg_database AS d
        WHERE d.datname = current_database()
    )
    SELECT sum(hashtext(concat(owned.oid, ' ', owned.owner, ' ', owned.besides)))
    FROM owned
)
