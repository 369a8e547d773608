-- Whether a task has this group, among the newest, those due first and the first that repeat; and
-- whether these may be only some of the tasks.
-- $1 group, or a prefix and %; $2 most tasks of each kind to look at
WITH newest AS MATERIALIZED (
    SELECT t."group"
    FROM :table AS t
    ORDER BY t.id DESC
    LIMIT $2::int8
)
SELECT
    EXISTS (
        SELECT
        FROM (
            (SELECT n."group" FROM newest AS n)
            UNION ALL
            (SELECT t."group" FROM :table AS t WHERE t.due IS NOT NULL ORDER BY t.due, t.id LIMIT $2::int8)
            UNION ALL
            (
                SELECT t."group"
                FROM :table AS t
                WHERE t.stop IS NULL
                    AND (t.repeat > '00:00:00'::interval OR t.cron IS NOT NULL)
                ORDER BY t.id
                LIMIT $2::int8
            )
        ) AS l
        WHERE l."group" = $1::text
            OR right($1::text, 1) = '%' AND starts_with(l."group", "left"($1::text, -1))
    ),
    (SELECT count(*) FROM newest) >= $2::int8
