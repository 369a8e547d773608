-- Whether nobody whom we have no reason to trust has a table that refers to this one by a foreign
-- key: a DELETE acts on that table or looks into it, and so runs code of theirs (its triggers, the
-- cast of its column, functions of its indexes), which runs as us, or can put off more until COMMIT
-- that does. Making such a key waits for a DELETE, and the other way round.
NOT EXISTS (
    WITH RECURSIVE below AS (
        SELECT pg_catalog.to_regclass(:table_text)::pg_catalog.oid AS oid
        UNION
        SELECT i.inhrelid
        FROM below
        JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
    )
    SELECT
    FROM below AS c
    JOIN pg_catalog.pg_trigger AS g ON g.tgrelid OPERATOR(pg_catalog.=) c.oid
    JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) g.tgfoid
        AND p.proname OPERATOR(pg_catalog.=) ANY ('{RI_FKey_noaction_del,RI_FKey_restrict_del,RI_FKey_cascade_del,RI_FKey_setnull_del,RI_FKey_setdefault_del}')
    JOIN pg_catalog.pg_class AS r ON r.oid OPERATOR(pg_catalog.=) g.tgconstrrelid
    JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) r.relowner
    WHERE NOT (
        o.rolsuper
        OR EXISTS (
            WITH RECURSIVE me AS (
                SELECT u.oid, u.rolsuper, EXISTS (
                    SELECT
                    FROM pg_catalog.pg_trigger AS g
                    WHERE g.tgrelid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(:table_text)::pg_catalog.oid AND g.tgname OPERATOR(pg_catalog.=) 'pgtaskd_role'
                ) AS inserters
                FROM pg_catalog.pg_roles AS u
                WHERE u.rolname OPERATOR(pg_catalog.=) current_user
            ),
            :memberships
            SELECT
            FROM (SELECT above.oid FROM above UNION ALL SELECT below.oid FROM below) AS x
            WHERE x.oid OPERATOR(pg_catalog.=) o.oid
        )
    )
)
