-- A long text of one task, at its start: its input, or its data; NULL where it is longer than it
-- may be.
-- $1 id, $2 whether its data, $3 longest text to bring, in bytes
SELECT CASE WHEN pg_catalog.octet_length(x.text) OPERATOR(pg_catalog.<=) $3::pg_catalog.int8 THEN x.text END
FROM :table AS t
CROSS JOIN LATERAL (SELECT CASE WHEN $2::pg_catalog.bool THEN coalesce(t.data, '') ELSE t.input END AS text) AS x
WHERE t.id OPERATOR(pg_catalog.>=) $1
    AND t.id OPERATOR(pg_catalog.<=) $1
ORDER BY t.id
