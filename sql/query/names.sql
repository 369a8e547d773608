-- The names of one task when it starts, and the length of each of its texts in bytes. A name of
-- over 64 kB is NULL; no INSERT should have let it in. The row is identified as in text.sql.
-- $1 id, $2 version of the row that was read, $3 pid of the session
SELECT
    octet_length(t."group"),
    CASE WHEN octet_length(t."group") <= 65536 THEN t."group" END,
    coalesce(octet_length(t.remote), 0),
    CASE WHEN t.remote IS NULL THEN '' WHEN octet_length(t.remote) <= 65536 THEN t.remote END,
    octet_length(t."null"),
    CASE WHEN octet_length(t."null") <= 65536 THEN t."null" END,
    octet_length(t.input),
    coalesce(octet_length(t.data), 0)
FROM :table AS t
CROSS JOIN (SELECT $2::int4 AS version, $3::int4 AS pid) AS e
WHERE t.id BETWEEN $1::int8 AND $1::int8
    AND :as_read
ORDER BY t.id
