-- Which tasks show that they are under way in backends that are gone, whoever has locked their
-- rows: as cut and halted tell it. Of several with one id all must be.
-- What runs on a remote is not known to be gone: whoever runs it cancels it when its row has changed,
-- and a locked row has not.
-- $1 ids, $2 sessions that are ours
SELECT l.id
FROM pg_catalog.unnest($1::pg_catalog.int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT pg_catalog.bool_and(w.gone) AS gone
    FROM (
        SELECT
            t.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}')
                OR t.state OPERATOR(pg_catalog.=) 'STOP' AND t.stopping AND t.stop IS NULL AS under_way,
            (t.state OPERATOR(pg_catalog.=) 'TAKE' OR coalesce(t.remote, '') OPERATOR(pg_catalog.=) '')
            AND NOT EXISTS (
                SELECT
                FROM pg_catalog.pg_stat_get_activity(t.pid) AS a
                WHERE a.pid OPERATOR(pg_catalog.=) t.pid
                    AND (
                        t.state OPERATOR(pg_catalog.=) 'TAKE'
                        OR a.datid OPERATOR(pg_catalog.=) (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname OPERATOR(pg_catalog.=) pg_catalog.current_database())
                        AND (a.backend_start IS NULL OR a.backend_start OPERATOR(pg_catalog.<=) t.start)
                        AND a.pid OPERATOR(pg_catalog.<>) ALL ($2::pg_catalog.int4[])
                    )
            ) AS gone
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) l.id
            AND t.id OPERATOR(pg_catalog.<=) l.id
        ORDER BY t.id
    ) AS w
    WHERE w.under_way
) AS b
WHERE b.gone
