-- Whether nobody whom we have no reason to trust has a table that refers to this one by a foreign
-- key: a DELETE acts on that table or looks into it, and so runs code of theirs (its triggers, the
-- cast of its column, functions of its indexes), which runs as us, or can put off more until COMMIT
-- that does. Making such a key waits for a DELETE, and the other way round.
NOT EXISTS (
    WITH RECURSIVE below AS (
        SELECT to_regclass(:table_text)::oid AS oid
        UNION
        SELECT i.inhrelid
        FROM below
        JOIN pg_inherits AS i ON i.inhparent = below.oid
    )
    SELECT
    FROM below AS c
    JOIN pg_trigger AS g ON g.tgrelid = c.oid
    JOIN pg_proc AS p ON p.oid = g.tgfoid
        AND p.proname = ANY ('{RI_FKey_noaction_del,RI_FKey_restrict_del,RI_FKey_cascade_del,RI_FKey_setnull_del,RI_FKey_setdefault_del}')
    JOIN pg_class AS r ON r.oid = g.tgconstrrelid
    JOIN pg_roles AS o ON o.oid = r.relowner
    WHERE NOT (
        o.rolsuper
        OR EXISTS (
            WITH RECURSIVE me AS (
                SELECT u.oid, u.rolsuper, EXISTS (
                    SELECT
                    FROM pg_trigger AS g
                    WHERE g.tgrelid = to_regclass(:table_text)::oid AND g.tgname = 'pgtaskd_role'
                ) AS inserters
                FROM pg_roles AS u
                WHERE u.rolname = current_user
            ),
            :memberships
            SELECT
            FROM (SELECT above.oid FROM above UNION ALL SELECT below.oid FROM below) AS x
            WHERE x.oid = o.oid
        )
    )
)
