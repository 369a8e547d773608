-- The rows of keys, or of an owner, that wait, paused ones among them, and those that run, as of one moment.
-- $1 keys, $2 owner
SELECT t.id, t.key, t.owner, :role, false, ARRAY[:texts]::pg_catalog.text[]
FROM :table AS t
WHERE t.wait_key IS NOT NULL
    AND (t.wait_key OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]) OR t.owner OPERATOR(pg_catalog.=) $2)
UNION ALL
SELECT t.id, t.key, t.owner, :role, true, ARRAY[:texts]::pg_catalog.text[]
FROM :table AS t
WHERE t.due IS NOT NULL
    AND t.state OPERATOR(pg_catalog.=) ANY ('{TAKE,WORK}')
    AND t.key IS NOT NULL
    AND (t.key OPERATOR(pg_catalog.=) ANY ($1::pg_catalog.text[]) OR t.owner OPERATOR(pg_catalog.=) $2)
