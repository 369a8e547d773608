-- Of the table and those below it, what may not be served: foreign tables, of whose rows the server
-- shows neither a version nor a trigger, and, where all tasks are to run under one role, tables whose
-- tasks run under the roles that insert them, which their trigger writes down.
-- $1 schema, $2 table
WITH RECURSIVE below AS (
    SELECT c.oid, 0 AS depth
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.text
    UNION
    SELECT i.inhrelid, below.depth OPERATOR(pg_catalog.+) 1
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
)
SELECT :readable(pg_catalog.format('%I.%I', n.nspname, c.relname)), x.is_foreign, x.inserters
FROM below
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) below.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
CROSS JOIN LATERAL (SELECT
    c.relkind OPERATOR(pg_catalog.=) 'f' AND below.depth OPERATOR(pg_catalog.>) 0 AS is_foreign,
    EXISTS (
        SELECT
        FROM pg_catalog.pg_trigger AS g
        WHERE g.tgrelid OPERATOR(pg_catalog.=) c.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role'
    ) AS inserters
) AS x
WHERE x.is_foreign OR x.inserters
ORDER BY below.depth, n.nspname, c.relname;
