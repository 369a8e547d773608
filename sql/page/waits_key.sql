-- The task of a key that waits.
-- $1 key
SELECT t.id
FROM :table AS t
WHERE t.wait_key = $1::text
ORDER BY t.wait_key
LIMIT 1
