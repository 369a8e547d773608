-- The highest id, and the time.
SELECT t.id, statement_timestamp()
FROM :table AS t
ORDER BY t.id DESC
LIMIT 1
