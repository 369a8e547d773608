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
    FROM pg_catalog.pg_class AS c
    JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
    WHERE n.nspname OPERATOR(pg_catalog.=) $1::pg_catalog.text AND c.relname OPERATOR(pg_catalog.=) $2::pg_catalog.text
    UNION
    SELECT i.inhrelid, below.whole, below.depth OPERATOR(pg_catalog.+) 1
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
)
SELECT :readable(pg_catalog.format('%I.%I', n.nspname, c.relname)), x.is_foreign, x.inserters, x.unguarded, x.claimed, x.claimed AND (h.inserters OR x.ours), coalesce(:readable(x.late), ''), coalesce(:readable(x.indexed), '')
FROM below
JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) below.oid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) c.relnamespace
CROSS JOIN LATERAL (SELECT
    EXISTS (
        SELECT
        FROM pg_catalog.pg_trigger AS g
        WHERE g.tgrelid OPERATOR(pg_catalog.=) c.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role'
    ) AS inserters,
    :guarded AS guarded
) AS h
CROSS JOIN LATERAL (
    SELECT pg_catalog.count(*) OPERATOR(pg_catalog.>) 0 AS is_there, pg_catalog.min(s.description) AS said
    FROM pg_catalog.pg_attribute AS a
    LEFT JOIN pg_catalog.pg_description AS s ON s.objoid OPERATOR(pg_catalog.=) a.attrelid AND s.objsubid OPERATOR(pg_catalog.=) a.attnum
        AND s.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass
    WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND a.attname OPERATOR(pg_catalog.=) 'role' AND NOT a.attisdropped
) AS r
CROSS JOIN LATERAL (SELECT
    c.relkind OPERATOR(pg_catalog.=) 'f' AND below.depth OPERATOR(pg_catalog.>) 0 AS is_foreign,
    h.inserters,
    below.depth OPERATOR(pg_catalog.>) 0 AND NOT h.guarded AND (
        h.inserters OR NOT c.relispartition OR EXISTS (
            SELECT
            FROM pg_catalog.pg_trigger AS g
            WHERE g.tgrelid OPERATOR(pg_catalog.=) below.whole AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role'
        )
    ) AS unguarded,
    below.depth OPERATOR(pg_catalog.=) 0 AND NOT h.guarded AND r.is_there AND (r.said OPERATOR(pg_catalog.=) 'believed') IS NOT TRUE AS claimed,
    (r.said OPERATOR(pg_catalog.=) 'Who inserted the task, and under whom it runs') IS TRUE AS ours,
    (
        SELECT pg_catalog.min(pg_catalog.quote_ident(g.tgname))
        FROM pg_catalog.pg_trigger AS g
        JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) g.tgfoid
        WHERE g.tgrelid OPERATOR(pg_catalog.=) c.oid AND g.tgdeferrable
            AND p.oid OPERATOR(pg_catalog.>=) 16384::pg_catalog.oid -- for those of the server's own, see indexed
            AND pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 180000
            AND NOT EXISTS (
                SELECT
                FROM pg_catalog.unnest(p.proconfig) AS s (setting)
                WHERE s.setting OPERATOR(pg_catalog.~) '^search_path=.*pg_temp"?$' -- else temporary tables come first
            )
    ) AS late,
    (
        SELECT pg_catalog.min(pg_catalog.quote_ident(k.conname))
        FROM pg_catalog.pg_constraint AS k
        JOIN pg_catalog.pg_index AS i ON i.indexrelid OPERATOR(pg_catalog.=) k.conindid
        WHERE k.conrelid OPERATOR(pg_catalog.=) c.oid AND k.condeferrable
            AND k.contype OPERATOR(pg_catalog.=) ANY ('{p,u,x}') -- a foreign key has the index of another table
            AND (i.indexprs IS NOT NULL OR i.indpred IS NOT NULL) -- operator classes are superusers'
            AND pg_catalog.current_setting('server_version_num')::pg_catalog.int4 OPERATOR(pg_catalog.>=) 180000
    ) AS indexed
) AS x
WHERE x.is_foreign OR x.inserters OR x.unguarded OR x.claimed OR x.late IS NOT NULL OR x.indexed IS NOT NULL
ORDER BY below.depth, n.nspname, c.relname;
