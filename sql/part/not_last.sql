-- Whether the ended task t can be deleted without losing its chain: the row after it (every row
-- with that id) has ended, too. If that row was deleted, because it had nothing to show, the chain
-- goes on if a task waits with its key, or if a repeating task has its group and input.
(
    t.repeat <= '0' AND t.cron IS NULL AND t.origin IS NULL
    OR t.next IS NOT NULL AND coalesce(
        (
            SELECT bool_and(n.ended)
            FROM (
                SELECT n.stop IS NOT NULL AS ended
                FROM :table AS n
                WHERE n.id BETWEEN t.next AND t.next
                ORDER BY n.id
            ) AS n
        ),
        t.key IS NOT NULL AND EXISTS (SELECT FROM :table AS w WHERE w.wait_key = t.key)
        OR EXISTS (
            SELECT
            FROM (
                SELECT r."group", r.input
                FROM :table AS r
                WHERE r.stop IS NULL
                    AND (r.repeat > '0' OR r.cron IS NOT NULL)
                ORDER BY r.id
                LIMIT 200
            ) AS r
            WHERE r."group" = t."group"
                AND r.input = t.input
        )
    )
)
