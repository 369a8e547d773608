-- Locks the rows that wait, paused ones among them, of keys or of an owner.
-- $1 keys, $2 owner
SELECT t.id, t.key, t.owner, false, ARRAY[:texts]::pg_catalog.text[]
FROM :table AS t
WHERE t.wait_key IS NOT NULL
    AND (t.wait_key OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]) OR t.owner OPERATOR(pg_catalog.=) $2)
ORDER BY t.id
FOR NO KEY UPDATE
