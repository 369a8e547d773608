-- The names of one task, at its start, and how long each of its texts is, in bytes. A name is NULL
-- where it is longer than 64 kB, which no INSERT should have let in.
-- $1 id
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
WHERE t.id OPERATOR(pg_catalog.>=) $1
    AND t.id OPERATOR(pg_catalog.<=) $1
ORDER BY t.id
