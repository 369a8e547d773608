-- What becomes due within a moment, the earliest first.
-- $1 the moment's length, $2 most rows
SELECT t.id
FROM :table AS t
WHERE t.due > statement_timestamp()
    AND t.due <= (statement_timestamp() + $1::interval)
    AND t.state = 'PLAN'
    AND t.max >= 0 -- else its lane may have to pause first
ORDER BY t.due, t.id
LIMIT $2
