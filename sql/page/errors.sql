-- The errors of the newest 100,000 ids, the most frequent first.
-- $1 most rows
SELECT e.sqlstate, e.error, e.count, e.first, e.last, e.example
FROM :its_error AS e
ORDER BY e.count DESC, e.last DESC
LIMIT $1::int8
