-- The names of one task, at its start, and how long each of its texts is, in bytes. A name is NULL
-- where it is longer than 64 kB, which no INSERT should have let in. The row is told as in text.sql.
-- $1 id, $2 version of the row that was read, $3 pid of the session
SELECT
    pg_catalog.octet_length(t."group"),
    CASE WHEN pg_catalog.octet_length(t."group") OPERATOR(pg_catalog.<=) 65536 THEN t."group" END,
    coalesce(pg_catalog.octet_length(t.remote), 0),
    CASE WHEN t.remote IS NULL THEN '' WHEN pg_catalog.octet_length(t.remote) OPERATOR(pg_catalog.<=) 65536 THEN t.remote END,
    pg_catalog.octet_length(t."null"),
    CASE WHEN pg_catalog.octet_length(t."null") OPERATOR(pg_catalog.<=) 65536 THEN t."null" END,
    pg_catalog.octet_length(t.input),
    coalesce(pg_catalog.octet_length(t.data), 0)
FROM :table AS t
CROSS JOIN (SELECT $2::pg_catalog.int4 AS version, $3::pg_catalog.int4 AS pid) AS e
WHERE t.id OPERATOR(pg_catalog.>=) $1::pg_catalog.int8
    AND t.id OPERATOR(pg_catalog.<=) $1::pg_catalog.int8
    AND :as_read
ORDER BY t.id
