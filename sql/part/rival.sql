-- Another task that waits with the key of the row t, if t is to wait again.
SELECT w.id
FROM :table AS w
WHERE t.again
    AND t.key IS NOT NULL -- else the server reads all of a partitioned table: it has no such index
    AND w.wait_key = t.key
    AND w.id <> t.id
LIMIT 1
