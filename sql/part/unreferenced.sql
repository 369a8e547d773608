-- Whether nobody whom we have no reason to trust has a table that refers to this one by a foreign
-- key: a DELETE acts on that table or looks into it, and so runs code of theirs (its triggers, the
-- cast of its column, functions of its indexes), which runs as us, or can put off more until COMMIT
-- that does. Making such a key waits for a DELETE, and the other way round.
NOT EXISTS (
    SELECT
    FROM (
        SELECT pg_catalog.to_regclass(:table_text)::pg_catalog.oid AS oid
        UNION ALL
        SELECT p.relid::pg_catalog.oid
        FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass(:table_text)) AS p
    ) AS c
    JOIN pg_catalog.pg_trigger AS g ON g.tgrelid OPERATOR(pg_catalog.=) c.oid
    JOIN pg_catalog.pg_proc AS p ON p.oid OPERATOR(pg_catalog.=) g.tgfoid
        AND p.proname OPERATOR(pg_catalog.=) ANY ('{RI_FKey_noaction_del,RI_FKey_restrict_del,RI_FKey_cascade_del,RI_FKey_setnull_del,RI_FKey_setdefault_del}')
    JOIN pg_catalog.pg_class AS r ON r.oid OPERATOR(pg_catalog.=) g.tgconstrrelid
    JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) r.relowner
    JOIN pg_catalog.pg_roles AS me ON me.rolname OPERATOR(pg_catalog.=) current_user
    WHERE NOT (
        o.rolsuper
        OR pg_catalog.pg_has_role(o.oid, me.oid, 'MEMBER')
        OR NOT me.rolsuper AND pg_catalog.pg_has_role(me.oid, o.oid, 'MEMBER')
    )
)
