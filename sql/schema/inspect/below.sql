-- Reasons in the table and the tables below it not to serve it. Foreign tables: the server shows
-- neither versions nor triggers for their rows. If all tasks are to run under one role: tables
-- whose tasks run under the roles that insert them (they have trigger pgtaskd_role). If tasks are
-- to run under the roles that insert them: children without that trigger, which is not inherited,
-- and a table that has a column role but not the trigger, since others may have written anything
-- into the column.
-- $1 schema, $2 table
WITH RECURSIVE below AS (
    SELECT c.oid, c.oid AS whole, 0 AS depth
    FROM pg_class AS c
    JOIN pg_namespace AS n ON n.oid = c.relnamespace
    WHERE n.nspname = $1::text AND c.relname = $2::text
    UNION
    SELECT i.inhrelid, below.whole, below.depth + 1
    FROM below
    JOIN pg_inherits AS i ON i.inhparent = below.oid
)
SELECT format('%I.%I', n.nspname, c.relname), x.is_foreign, x.inserters, x.unguarded, x.claimed
FROM below
JOIN pg_class AS c ON c.oid = below.oid
JOIN pg_namespace AS n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (SELECT
    EXISTS (
        SELECT
        FROM pg_trigger AS g
        WHERE g.tgrelid = c.oid AND g.tgname = 'pgtaskd_role'
    ) AS inserters,
    :guarded AS guarded
) AS h
CROSS JOIN LATERAL (SELECT
    c.relkind = 'f' AND below.depth > 0 AS is_foreign,
    h.inserters,
    below.depth > 0 AND NOT h.guarded AND (
        h.inserters OR NOT c.relispartition OR EXISTS (
            SELECT
            FROM pg_trigger AS g
            WHERE g.tgrelid = below.whole AND g.tgname = 'pgtaskd_role'
        )
    ) AS unguarded,
    below.depth = 0 AND NOT h.guarded AND EXISTS (
        SELECT
        FROM pg_attribute AS a
        WHERE a.attrelid = c.oid AND a.attname = 'role' AND NOT a.attisdropped
    ) AS claimed
) AS x
WHERE x.is_foreign OR x.inserters OR x.unguarded OR x.claimed
ORDER BY below.depth, n.nspname, c.relname;
