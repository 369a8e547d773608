-- Locks the rows that run, of keys or of an owner.
-- $1 keys, $2 owner
SELECT t.id, t.key, t.owner, true, ARRAY[:texts]::pg_catalog.text[]
FROM :table AS t
WHERE t.due IS NOT NULL
    AND t.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}')
    AND t.key IS NOT NULL
    AND (t.key OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]) OR t.owner OPERATOR(pg_catalog.=) $2)
ORDER BY t.id
FOR NO KEY UPDATE
