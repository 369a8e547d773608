-- What belongs to none of those trusted, of all that can make SQL run with the table, or that we
-- look up by its name: the owner could replace it.
-- Of casts those count that the owner of neither type has made; one between our type and a type of
-- somebody else's is called only for values of that type.
-- Something else that has the name of one of our indexes, of the register of sessions, or of the
-- type that our functions take, is in its way; in that of the register, which has a type of its
-- name, and of the type is a type as well.
-- $1 schema, $2 table, $3 our functions without parameters, $4 those that take the type $5, $6 our
-- triggers, $7 type that is looked up by name, $8 trusted roles, $9 our indexes, $10 register and
-- type
WITH RECURSIVE owner AS (
    SELECT r.oid, o.rolname, o.oid::int8 = ANY ($8::int8[]) AS trusted
    FROM pg_roles AS r
    JOIN pg_database AS d ON d.datname = current_database()
    JOIN pg_roles AS o ON o.oid = CASE
        WHEN r.rolname = 'pg_database_owner' THEN d.datdba
        ELSE r.oid
    END
), task AS (
    SELECT c.oid
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1::text AND c.relname = $2::text
), above AS (
    SELECT task.oid
    FROM task
    UNION
    SELECT i.inhparent
    FROM above
    JOIN pg_inherits AS i ON i.inhrelid = above.oid
), below AS (
    SELECT task.oid
    FROM task
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_inherits AS i ON i.inhparent = below.oid
), related AS (
    SELECT above.oid
    FROM above
    UNION
    SELECT below.oid
    FROM below
), type AS (
    SELECT a.atttypid AS oid
    FROM pg_attribute AS a
    WHERE a.attrelid = ANY (ARRAY(SELECT related.oid FROM related)) AND a.attnum > 0 AND NOT a.attisdropped
    UNION
    SELECT t.oid
    FROM pg_type AS t
    JOIN pg_namespace AS n ON n.oid = t.typnamespace
    WHERE n.nspname = $1::text AND t.typname = $7::text
    UNION
    SELECT of.oid
    FROM type
    JOIN pg_type AS t ON t.oid = type.oid
        AND type.oid >= 16384::oid -- the server's own are made of such
    :made_of
), function AS (
    SELECT p.oid
    FROM pg_proc AS p
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    WHERE n.nspname = $1::text
        AND (
            p.proname = ANY ($3::name[]) AND p.pronargs = 0
            OR p.proname = ANY ($4::name[])
            AND EXISTS (
                SELECT
                FROM pg_type AS t
                WHERE t.oid = ANY (p.proargtypes)
                    AND t.typnamespace = n.oid
                    AND t.typname = $5::name
            )
        ) -- as in functions.sql
    UNION
    SELECT g.tgfoid
    FROM related
    JOIN pg_trigger AS g ON g.tgrelid = related.oid
    WHERE g.tgname = ANY ($6::name[])
), object AS (
    SELECT 1 AS n, 'SCHEMA' AS kind, quote_ident(n.nspname) AS name, n.nspowner AS owner
    FROM pg_namespace AS n
    WHERE n.nspname = $1::text
    UNION ALL
    SELECT 2, 'TABLE', format('%I.%I', n.nspname, c.relname), c.relowner
    FROM related
    JOIN pg_class AS c ON c.oid = related.oid
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    UNION ALL
    SELECT 3, 'TYPE', format('%I.%I', n.nspname, t.typname), t.typowner
    FROM type
    JOIN pg_type AS t ON t.oid = type.oid
    JOIN pg_namespace AS n ON n.oid = t.typnamespace
    WHERE NOT EXISTS ( -- an array, whose owner is that of its element
        SELECT
        FROM pg_type AS e
        WHERE e.oid = t.typelem AND e.typarray = t.oid
    )
    UNION ALL
    SELECT 4, 'FUNCTION', format('%I.%I(%s)', n.nspname, p.proname, pg_get_function_identity_arguments(p.oid)), p.proowner
    FROM function
    JOIN pg_proc AS p ON p.oid = function.oid
    JOIN pg_namespace AS n ON n.oid = p.pronamespace
    UNION ALL
    SELECT DISTINCT 5, 'SEQUENCE', format('%I.%I', n.nspname, s.relname), s.relowner
    FROM task
    JOIN pg_attrdef AS a ON a.adrelid = task.oid
    JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass
        AND d.objid = a.oid
        AND d.refclassid = 'pg_class'::regclass
    JOIN pg_class AS s ON s.oid = d.refobjid AND s.relkind = 'S' AND NOT EXISTS (
        SELECT -- it has the owner of its table
        FROM pg_depend AS o
        WHERE o.classid = 'pg_class'::regclass AND o.objid = s.oid AND o.refobjid = task.oid
    )
    JOIN pg_namespace AS n ON n.oid = s.relnamespace
    UNION ALL
    SELECT DISTINCT 6, 'CAST', format('(%s AS %s)', format_type(c.castsource, NULL), format_type(c.casttarget, NULL)), p.proowner
    FROM type
    JOIN pg_type AS of ON of.oid = type.oid
        AND of.typnamespace <> 'pg_catalog'::regnamespace -- whose casts with others are those others' matter
    JOIN pg_cast AS c ON type.oid = ANY (ARRAY[c.castsource, c.casttarget])
    JOIN pg_proc AS p ON p.oid = c.castfunc
    JOIN pg_type AS s ON s.oid = c.castsource
    JOIN pg_type AS t ON t.oid = c.casttarget
    JOIN owner AS os ON os.oid = s.typowner AND os.trusted
    JOIN owner AS ot ON ot.oid = t.typowner AND ot.trusted
    WHERE type.oid >= 16384::oid -- not of the server's own, which have casts to types of other tables
    UNION ALL
    SELECT 7, 'RELATION', format('%I.%I', n.nspname, c.relname), c.relowner
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1::text AND c.relname = ANY ($9::name[] || $10::name[])
    UNION ALL
    SELECT 8, 'NAME', format('%I.%I', n.nspname, t.typname), t.typowner
    FROM pg_type AS t
    JOIN pg_namespace AS n ON n.oid = t.typnamespace
    WHERE n.nspname = $1::text AND t.typname = ANY ($10::name[])
        AND t.typrelid = 0::oid
)
SELECT object.kind, :readable(object.name), :readable(quote_ident(owner.rolname))
FROM object
JOIN owner ON owner.oid = object.owner
WHERE NOT owner.trusted
ORDER BY object.n, object.name;
