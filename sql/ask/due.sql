-- The tasks that wait or run and are due within two seconds, those that have waited longest first:
-- their ids, and which of them run, since when.
-- $1 most tasks
SELECT t.id, t.state OPERATOR(pg_catalog.=) 'WORK', coalesce(t.start::pg_catalog.text, '')
FROM :table AS t
WHERE t.due IS NOT NULL
    AND t.due OPERATOR(pg_catalog.<=) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) '2 seconds'::pg_catalog.interval)
ORDER BY t.due, t.id
LIMIT $1::pg_catalog.int8
