-- What becomes due within a moment, the earliest first.
-- $1 the moment's length, $2 most rows
SELECT t.id
FROM :table AS t
WHERE t.due OPERATOR(pg_catalog.>) pg_catalog.statement_timestamp()
    AND t.due OPERATOR(pg_catalog.<=) (pg_catalog.statement_timestamp() OPERATOR(pg_catalog.+) $1::pg_catalog.interval)
    AND t.state OPERATOR(pg_catalog.=) 'PLAN'
    AND t.max OPERATOR(pg_catalog.>=) 0 -- else its lane may have to pause first
ORDER BY t.due, t.id
LIMIT $2
