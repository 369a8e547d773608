-- Of the table and those below it, what may not be served: foreign tables, of whose rows the server
-- shows neither a version nor a trigger, and, where all tasks are to run under one role, tables whose
-- tasks run under the roles that insert them, which their trigger writes down. Where they are to run
-- so, children that lack that trigger, which is not inherited, and partitions whose own is disabled, or
-- renamed, as servers before 15 let their owner do; a
-- table with a column role and without the trigger, into which others may have written anything; and
-- from 18 on triggers that may wait for COMMIT: they run as who has written the row, which for an end
-- is the serving role, but with the search_path of the session, which is the task's. So do the
-- functions in the index of a deferrable constraint.
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
SELECT :readable(format('%I.%I', n.nspname, c.relname)), x.is_foreign, x.inserters, x.unguarded, x.claimed, x.claimed AND (h.inserters OR x.ours), coalesce(:readable(x.late), ''), coalesce(:readable(x.indexed), '')
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
CROSS JOIN LATERAL (
    SELECT count(*) > 0 AS is_there, min(s.description) AS said
    FROM pg_attribute AS a
    LEFT JOIN pg_description AS s ON s.objoid = a.attrelid AND s.objsubid = a.attnum
        AND s.classoid = 'pg_class'::regclass
    WHERE a.attrelid = c.oid AND a.attname = 'role' AND NOT a.attisdropped
) AS r
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
    below.depth = 0 AND NOT h.guarded AND r.is_there AND (r.said = 'believed') IS NOT TRUE AS claimed,
    (r.said = 'Who inserted the task, and under whom it runs') IS TRUE AS ours,
    (
        SELECT min(quote_ident(g.tgname))
        FROM pg_trigger AS g
        JOIN pg_proc AS p ON p.oid = g.tgfoid
        WHERE g.tgrelid = c.oid AND g.tgdeferrable
            AND p.oid >= 16384::oid -- for those of the server's own, see indexed
            AND current_setting('server_version_num')::int4 >= 180000
            AND NOT EXISTS (
                SELECT
                FROM unnest(p.proconfig) AS s (setting)
                WHERE s.setting ~ '^search_path=.*pg_temp"?$' -- else temporary tables come first
            )
    ) AS late,
    (
        SELECT min(quote_ident(k.conname))
        FROM pg_constraint AS k
        JOIN pg_index AS i ON i.indexrelid = k.conindid
        WHERE k.conrelid = c.oid AND k.condeferrable
            AND k.contype = ANY ('{p,u,x}') -- a foreign key has the index of another table
            AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL) -- operator classes are superusers'
            AND current_setting('server_version_num')::int4 >= 180000
    ) AS indexed
) AS x
WHERE x.is_foreign OR x.inserters OR x.unguarded OR x.claimed OR x.late IS NOT NULL OR x.indexed IS NOT NULL
ORDER BY below.depth, n.nspname, c.relname;
