-- The relations whose triggers, rules and policies run when pgtaskd works, and what each is to the
-- table: task, above, below, register, beside, sequence, refers. Also the names of those that the
-- door must and can lock.
-- $1 the table (0: none yet), $2 its schema, $3 our names there, $4 their pattern, $5 the names of
-- the tables that only the serving role may write: the register of sessions, the acts of the page
WITH RECURSIVE above AS (
    SELECT inhparent AS oid FROM pg_inherits WHERE inhrelid = $1::oid
    UNION
    SELECT i.inhparent FROM above JOIN pg_inherits AS i ON i.inhrelid = above.oid
),
below AS (
    SELECT inhrelid AS oid FROM pg_inherits WHERE inhparent = $1::oid
    UNION
    SELECT i.inhrelid FROM below JOIN pg_inherits AS i ON i.inhparent = below.oid
),
ours (oid, part) AS (
    SELECT $1::oid, 'task' WHERE $1::oid <> 0
    UNION ALL SELECT oid, 'above' FROM above
    UNION ALL SELECT oid, 'below' FROM below
    UNION ALL SELECT oid, CASE WHEN relname = ANY ($5::text[]) THEN 'register' ELSE 'beside' END
    FROM pg_class
    WHERE relnamespace = $2::oid AND (relname = ANY ($3::text[]) OR relname LIKE $4::text) AND relkind IN ('r', 'p', 'v', 'm', 'f') AND oid <> $1::oid
),
numbers (oid) AS ( -- the sequences that the table owns or draws from
    SELECT objid FROM pg_depend WHERE refclassid = 'pg_class'::regclass AND refobjid = $1::oid AND classid = 'pg_class'::regclass
    UNION
    SELECT d.refobjid
    FROM pg_attrdef AS a
    JOIN pg_depend AS d ON d.classid = 'pg_attrdef'::regclass AND d.objid = a.oid AND d.refclassid = 'pg_class'::regclass
    WHERE a.adrelid = $1::oid
),
referring (oid) AS ( -- tables that a foreign key changes with ours, and their partitions
    SELECT oid FROM ours
    UNION
    SELECT x.oid
    FROM referring AS r
    CROSS JOIN LATERAL (
        SELECT k.conrelid AS oid
        FROM pg_depend AS d
        JOIN pg_constraint AS k ON k.oid = d.objid AND k.contype = 'f' AND k.confrelid = r.oid
        WHERE d.refclassid = 'pg_class'::regclass AND d.refobjid = r.oid AND d.classid = 'pg_constraint'::regclass
        UNION ALL
        SELECT inhrelid FROM pg_inherits WHERE inhparent = r.oid AND r.oid NOT IN (SELECT oid FROM above)
    ) AS x
)
SELECT o.oid::int8, o.part, CASE
    WHEN o.part IN ('task', 'below') -- locks on others must not stop the target
        AND c.relkind IN ('r', 'p')
        AND has_schema_privilege(c.relnamespace, 'USAGE')
        AND has_table_privilege(c.oid, 'UPDATE, DELETE, TRUNCATE')
        THEN c.oid::regclass::text
    ELSE ''
END
FROM ours AS o
JOIN pg_class AS c ON c.oid = o.oid
UNION
SELECT n.oid::int8, 'sequence', '' FROM numbers AS n JOIN pg_class AS c ON c.oid = n.oid AND c.relkind = 'S'
UNION
SELECT oid::int8, 'refers', '' FROM referring WHERE oid NOT IN (SELECT ours.oid FROM ours)
