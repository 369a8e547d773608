-- The tasks whose rows show a run in a backend that is gone, by the rules of cut.sql, even if
-- somebody has locked the rows. If several rows have one id, all must show that. Tasks on a remote
-- are never known to be gone: their leader cancels a task when its row has changed, and a locked
-- row has not.
-- $1 ids, $2 our sessions
SELECT l.id
FROM unnest($1::int8[]) AS l (id)
CROSS JOIN LATERAL (
    SELECT bool_and(w.gone) AS gone
    FROM (
        SELECT
            t.state = ANY ('{TAKE,WORK}')
                OR t.state = 'STOP' AND t.stopping AND t.stop IS NULL AS under_way,
            (t.state = 'TAKE' OR coalesce(t.remote, '') = '')
            AND NOT EXISTS (
                SELECT
                FROM pg_stat_get_activity(CASE WHEN :unmasked THEN t.pid END) AS a
                WHERE a.pid = t.pid
                    AND (
                        t.state = 'TAKE'
                        OR a.datid = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database())
                        AND (a.backend_start IS NULL OR a.backend_start <= t.start)
                        AND a.pid <> ALL ($2::int4[])
                    )
            ) AS gone
        FROM :table AS t
        WHERE t.id BETWEEN l.id AND l.id
        ORDER BY t.id
    ) AS w
    WHERE w.under_way
) AS b
WHERE b.gone
