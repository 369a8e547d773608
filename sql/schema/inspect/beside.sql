-- Everything that has the name of an object beside the table, with its comment and the rights to it
-- that the role lacks. Only functions with our parameters: one int8 (20), or none.
-- $1 schema, $2 names
WITH thing AS (
    SELECT c.relname AS name, c.oid, c.relkind::text AS kind, c.tableoid AS class
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = ANY ($2::name[])
    UNION ALL
    SELECT t.typname, t.oid, 'type', t.tableoid
    FROM pg_type AS t
    JOIN pg_namespace AS n ON n.oid = t.typnamespace
    WHERE n.nspname = $1 AND t.typname = ANY ($2::name[])
        AND t.typrelid = 0::oid
    UNION ALL
    SELECT p.proname, p.oid, 'function', p.tableoid
    FROM unnest($2::name[]) AS w (name)
    JOIN pg_namespace AS n ON n.nspname = $1
    JOIN pg_proc AS p ON p.pronamespace = n.oid AND p.proname = w.name
        AND p.proargtypes = CASE WHEN w.name ~ '_why$' THEN '20' ELSE '' END::oidvector
)
SELECT
    thing.name::text,
    thing.oid::int8,
    thing.kind,
    coalesce((
        SELECT left(s.description, 1000)
        FROM pg_description AS s
        WHERE s.objoid = thing.oid
            AND s.classoid = thing.class
            AND s.objsubid = 0
    ), ''),
    ARRAY(
        SELECT r.name
        FROM unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS r (name)
        WHERE CASE WHEN thing.kind = 'r' THEN NOT has_table_privilege(thing.oid, r.name) END
    )
FROM thing
ORDER BY thing.oid;
