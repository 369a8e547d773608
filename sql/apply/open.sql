-- The rows of these keys, or of an owner, that wait (paused ones too, with the reason) or run, in
-- one snapshot.
-- $1 keys, $2 owner
SELECT
    t.id,
    t.key,
    t.owner,
    :role,
    false,
    CASE
        WHEN t.state <> 'STOP' THEN NULL
        WHEN t.max_failures > 0 AND t.failures >= t.max_failures THEN concat('paused after ', t.failures, ' failures in a row')
        ELSE 'paused'
    END,
    ARRAY[:texts]::text[]
FROM :table AS t
WHERE t.wait_key IS NOT NULL
    AND (t.wait_key = ANY ($1::text[]) OR t.owner = $2)
UNION ALL
SELECT t.id, t.key, t.owner, :role, true, NULL, ARRAY[:texts]::text[]
FROM :table AS t
WHERE t.due IS NOT NULL
    AND t.state = ANY ('{TAKE,WORK}')
    AND t.key IS NOT NULL
    AND (t.key = ANY ($1::text[]) OR t.owner = $2)
