-- The greatest id; 0 if there is none.
SELECT coalesce((SELECT t.id FROM :table AS t ORDER BY t.id DESC LIMIT 1), 0)
