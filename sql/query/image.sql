-- What a row holds: a digest of each column. The row is told as in text.sql.
-- $1 id, $2 version of the row that was read, $3 pid of the session
SELECT jsonb_object_agg(e.key, e.digest)::text
FROM (:pinned) AS s
CROSS JOIN LATERAL (
    SELECT c.key, md5(c.value) AS digest
    FROM (
        SELECT to_jsonb(t) AS held
        FROM :table AS t
        CROSS JOIN (SELECT $2::int4 AS version, $3::int4 AS pid) AS e
        WHERE t.id >= $1::int8
            AND t.id <= $1::int8
            AND :as_read
            AND s.pinned IS NOT NULL
        ORDER BY t.id
    ) AS r
    CROSS JOIN LATERAL jsonb_each_text(r.held) AS c
) AS e
