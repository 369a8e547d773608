-- Deletes ended tasks that have been kept long enough. Skips rows that somebody has locked, or
-- changed since they were found, and tasks that a newer task names in after; if 100 newer tasks
-- have an after, it deletes none. Returns those that a trigger has kept.
-- $1 how long to keep tasks, $2 ids, $3 the last id of tasks with after that were already looked at
WITH since AS MATERIALIZED (
    SELECT t.after
    FROM :table AS t
    WHERE t.stop IS NULL
        AND t.after IS NOT NULL
        AND t.id > $3::int8
    ORDER BY t.id
    LIMIT 100
),
old AS MATERIALIZED (
    SELECT t.part, t.place
    FROM unnest($2::int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id BETWEEN l.id AND l.id
            AND t.stop < (statement_timestamp() - :kept)
            AND :not_last
        ORDER BY t.id
    ) AS t
    WHERE (SELECT count(*) FROM since) < 100
        AND NOT EXISTS (SELECT FROM since AS s WHERE l.id = ANY (s.after))
),
locked AS MATERIALIZED (
    SELECT t.id, o.part, o.place
    FROM old AS o
    CROSS JOIN LATERAL (
        SELECT t.id, t.ctid AS place
        FROM :table AS t
        WHERE t.ctid = o.place
            AND t.tableoid = o.part
        FOR UPDATE SKIP LOCKED
    ) AS t
    WHERE t.place = o.place
),
deleted AS (
    DELETE FROM :table AS t
    USING locked AS l
    WHERE t.ctid = l.place
        AND t.tableoid = l.part
    RETURNING t.id
)
SELECT l.id
FROM locked AS l
WHERE NOT EXISTS (SELECT FROM deleted AS d WHERE d.id = l.id)
