SELECT
    c.oid::int8,
    c.relkind::text,
    coalesce((
        SELECT s.description
        FROM pg_description AS s
        WHERE s.objoid = c.oid
            AND s.classoid = 'pg_class'::regclass
            AND s.objsubid = 0
    ), ''),
    coalesce(c.reloptions, '{}'),
    c.relispartition,
    coalesce(pg_partition_root(c.oid)::oid, c.oid)::int8,
    CASE WHEN row_security_active(c.oid) AND (
        SELECT -- one policy lets all rows through, and no restrictive one filters
            coalesce(bool_or(p.polpermissive AND p.polcmd = '*' AND lets.all), false)
            AND coalesce(bool_and(p.polpermissive OR lets.all), true)
        FROM pg_policy AS p
        CROSS JOIN LATERAL (
            SELECT coalesce(pg_get_expr(p.polqual, p.polrelid), 'true') = 'true'
                AND coalesce(pg_get_expr(p.polwithcheck, p.polrelid), 'true') = 'true' AS all
        ) AS lets
        WHERE p.polrelid = c.oid
            AND EXISTS (
                SELECT
                FROM unnest(p.polroles) AS r (oid)
                WHERE r.oid = 0 OR pg_has_role(r.oid, 'USAGE')
            )
    ) IS NOT TRUE THEN quote_ident(current_user) ELSE '' END
FROM pg_class AS c
JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1
    AND c.relname = $2;
