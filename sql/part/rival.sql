-- Another task that waits with the key of the row t, which is to wait again.
SELECT w.id
FROM :table AS w
WHERE t.again
    AND t.key IS NOT NULL -- else a partitioned table, which has no index for this, would be read
    AND w.wait_key = t.key
    AND w.id <> t.id
LIMIT 1
