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
    SELECT r.oid, o.rolname, o.oid::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($8::pg_catalog.int8[]) AS trusted
    FROM pg_catalog.pg_roles AS r
    JOIN pg_catalog.pg_database AS d ON d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) CASE
        WHEN r.rolname OPERATOR(pg_catalog.=) 'pg_database_owner' THEN d.datdba
        ELSE r.oid
    END
), task AS (
    SELECT c.oid
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.text
), above AS (
    SELECT task.oid
    FROM task
    UNION
    SELECT i.inhparent
    FROM above
    JOIN pg_catalog.pg_inherits AS i ON i.inhrelid OPERATOR(pg_catalog.=) above.oid
), below AS (
    SELECT task.oid
    FROM task
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
), related AS (
    SELECT above.oid
    FROM above
    UNION
    SELECT below.oid
    FROM below
), type AS (
    SELECT a.atttypid AS oid
    FROM pg_catalog.pg_attribute AS a
    WHERE a.attrelid OPERATOR(pg_catalog.=) ANY (ARRAY(SELECT related.oid FROM related)) AND a.attnum OPERATOR(pg_catalog.>) 0 AND NOT a.attisdropped
    UNION
    SELECT t.oid
    FROM pg_catalog.pg_type AS t
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text AND t.typname OPERATOR(pg_catalog.=) $7::pg_catalog.text
    UNION
    SELECT of.oid
    FROM type
    JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) type.oid
        AND type.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid -- the server's own are made of such
    :made_of
), function AS (
    SELECT p.oid
    FROM pg_catalog.pg_proc AS p
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text
        AND (
            p.proname OPERATOR(pg_catalog.=) ANY ($3::pg_catalog.name[]) AND p.pronargs OPERATOR(pg_catalog.=) 0
            OR p.proname OPERATOR(pg_catalog.=) ANY ($4::pg_catalog.name[])
            AND EXISTS (
                SELECT
                FROM pg_catalog.pg_type AS t
                WHERE t.oid OPERATOR(pg_catalog.=) ANY (p.proargtypes)
                    AND t.typnamespace OPERATOR(pg_catalog.=) n.oid
                    AND t.typname OPERATOR(pg_catalog.=) $5::pg_catalog.name
            )
        ) -- as in functions.sql
    UNION
    SELECT g.tgfoid
    FROM related
    JOIN pg_catalog.pg_trigger AS g ON g.tgrelid OPERATOR(pg_catalog.=) related.oid
    WHERE g.tgname OPERATOR(pg_catalog.=) ANY ($6::pg_catalog.name[])
), object AS (
    SELECT 1 AS n, 'SCHEMA' AS kind, pg_catalog.quote_ident(n.nspname) AS name, n.nspowner AS owner
    FROM pg_catalog.pg_namespace AS n
    WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text
    UNION ALL
    SELECT 2, 'TABLE', pg_catalog.format('%I.%I', n.nspname, c.relname), c.relowner
    FROM related
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) related.oid
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    UNION ALL
    SELECT 3, 'TYPE', pg_catalog.format('%I.%I', n.nspname, t.typname), t.typowner
    FROM type
    JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) type.oid
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
    WHERE NOT EXISTS ( -- an array, whose owner is that of its element
        SELECT
        FROM pg_catalog.pg_type AS e
        WHERE e.oid OPERATOR(pg_catalog.=) t.typelem AND e.typarray OPERATOR(pg_catalog.=) t.oid
    )
    UNION ALL
    SELECT 4, 'FUNCTION', pg_catalog.format('%I.%I(%s)', n.nspname, p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid)), p.proowner
    FROM function
    JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) function.oid
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) p.pronamespace
    UNION ALL
    SELECT DISTINCT 5, 'SEQUENCE', pg_catalog.format('%I.%I', n.nspname, s.relname), s.relowner
    FROM task
    JOIN pg_catalog.pg_attrdef AS a ON a.adrelid OPERATOR(pg_catalog.=) task.oid
    JOIN pg_catalog.pg_depend AS d ON d.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_attrdef'::pg_catalog.regclass
        AND d.objid OPERATOR(pg_catalog.=) a.oid
        AND d.refclassid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
    JOIN pg_catalog.pg_class AS s ON s.oid OPERATOR(pg_catalog.=) d.refobjid AND s.relkind OPERATOR(pg_catalog.=) 'S' AND NOT EXISTS (
        SELECT -- it has the owner of its table
        FROM pg_catalog.pg_depend AS o
        WHERE o.classid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass AND o.objid OPERATOR(pg_catalog.=) s.oid AND o.refobjid OPERATOR(pg_catalog.=) task.oid
    )
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) s.relnamespace
    UNION ALL
    SELECT DISTINCT 6, 'CAST', pg_catalog.format('(%s AS %s)', pg_catalog.format_type(c.castsource, NULL), pg_catalog.format_type(c.casttarget, NULL)), p.proowner
    FROM type
    JOIN pg_catalog.pg_type AS of ON of.oid OPERATOR(pg_catalog.=) type.oid
        AND of.typnamespace OPERATOR(pg_catalog.<>) 'pg_catalog'::pg_catalog.regnamespace -- whose casts with others are those others' matter
    JOIN pg_catalog.pg_cast AS c ON type.oid OPERATOR(pg_catalog.=) ANY (ARRAY[c.castsource, c.casttarget])
    JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) c.castfunc
    JOIN pg_catalog.pg_type AS s ON s.oid OPERATOR(pg_catalog.=) c.castsource
    JOIN pg_catalog.pg_type AS t ON t.oid OPERATOR(pg_catalog.=) c.casttarget
    JOIN owner AS os ON os.oid OPERATOR(pg_catalog.=) s.typowner AND os.trusted
    JOIN owner AS ot ON ot.oid OPERATOR(pg_catalog.=) t.typowner AND ot.trusted
    WHERE type.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid -- not of the server's own, which have casts to types of other tables
    UNION ALL
    SELECT 7, 'RELATION', pg_catalog.format('%I.%I', n.nspname, c.relname), c.relowner
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text AND c.relname OPERATOR(pg_catalog.=) ANY ($9::pg_catalog.name[] OPERATOR(pg_catalog.||) $10::pg_catalog.name[])
    UNION ALL
    SELECT 8, 'NAME', pg_catalog.format('%I.%I', n.nspname, t.typname), t.typowner
    FROM pg_catalog.pg_type AS t
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text AND t.typname OPERATOR(pg_catalog.=) ANY ($10::pg_catalog.name[])
        AND t.typrelid OPERATOR(pg_catalog.=) 0::pg_catalog.oid
)
SELECT object.kind, :readable(object.name), :readable(pg_catalog.quote_ident(owner.rolname))
FROM object
JOIN owner ON owner.oid OPERATOR(pg_catalog.=) object.owner
WHERE NOT owner.trusted
ORDER BY object.n, object.name;
