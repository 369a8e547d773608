-- What has the names of the objects beside the table, with its comment, where its owner is trusted,
-- what the role may do with it, and the text of a function, of such an owner. Text of a stranger's may be of any length, and in an encoding
-- that UTF-8 lacks a character of. Of functions those are meant that have the parameters of ours, one
-- of int8 (20) or none; of others' that calls may be taken for, some are named: there may be any number.
-- $1 schema, $2 names, $3 trusted roles
WITH thing AS (
    SELECT c.relname AS name, c.oid, c.relkind::pg_catalog.text AS kind, c.relowner AS owner, c.tableoid AS class, '' AS source
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1 AND c.relname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[])
    UNION ALL
    SELECT t.typname, t.oid, 'type', t.typowner, t.tableoid, ''
    FROM pg_catalog.pg_type AS t
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1 AND t.typname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[])
        AND t.typrelid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
    UNION ALL
    SELECT p.proname, p.oid, 'function', p.proowner, p.tableoid, p.prosrc
    FROM pg_catalog.unnest($2::pg_catalog.name[]) AS w (name)
    JOIN pg_catalog.pg_namespace AS n ON n.nspname OPERATOR(pg_catalog.=) $1
    JOIN pg_catalog.pg_proc AS p ON p.pronamespace OPERATOR(pg_catalog.=) n.oid AND p.proname OPERATOR(pg_catalog.=) w.name
        AND p.proargtypes OPERATOR(pg_catalog.=) CASE WHEN w.name OPERATOR(pg_catalog.~) '_why$' THEN '20' ELSE '' END::pg_catalog.oidvector
    UNION ALL
    (
        SELECT :readable(pg_catalog.format('%I(%s)', p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid))), p.oid, 'overload', p.proowner, p.tableoid, ''
        FROM pg_catalog.pg_proc AS p
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
        WHERE n.nspname OPERATOR(pg_catalog.=) $1 AND p.proname OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.name[])
            AND p.proargtypes OPERATOR(pg_catalog.<>) CASE WHEN p.proname OPERATOR(pg_catalog.~) '_why$' THEN '20' ELSE '' END::pg_catalog.oidvector
            AND NOT p.proowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[])
        LIMIT 5
    )
)
SELECT
    thing.name::pg_catalog.text,
    thing.oid::pg_catalog.int8,
    thing.kind,
    coalesce((
        SELECT pg_catalog.left(s.description, 1000)
        FROM pg_catalog.pg_description AS s
        WHERE thing.owner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[])
            AND s.objoid OPERATOR(pg_catalog.=) thing.oid
            AND s.classoid OPERATOR(pg_catalog.=) thing.class
            AND s.objsubid OPERATOR(pg_catalog.=) 0
    ), ''),
    :readable(pg_catalog.quote_ident(o.rolname)),
    thing.owner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[]),
    pg_catalog.pg_has_role(thing.owner, 'USAGE'),
    ARRAY(
        SELECT r.name
        FROM pg_catalog.unnest('{SELECT,INSERT,UPDATE,DELETE}'::pg_catalog.text[]) AS r (name)
        WHERE CASE WHEN thing.kind OPERATOR(pg_catalog.=) 'r' THEN NOT pg_catalog.has_table_privilege(thing.oid, r.name) END
    ),
    CASE WHEN thing.owner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.int8[]) THEN thing.source ELSE '' END
FROM thing
JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) thing.owner
ORDER BY thing.oid;
