-- Whether the table has more than that many rows.
-- $1 the number
SELECT EXISTS (SELECT t.id FROM :table AS t ORDER BY t.id DESC OFFSET $1::int8 LIMIT 1)
