-- The answer to the ledger for the row t and its entry e.
t.id,
-- false: a trigger has kept the row as it was
CASE e.what WHEN 'm' THEN t.state = 'WORK' WHEN 'd' THEN t.state = 'DONE' WHEN 's' THEN t.state = 'DONE'
    ELSE (t.state = 'WORK' AND t.xact = e.xact) IS TRUE END,
e.what IN ('d', 's') AND t."delete" AND t.output IS NULL
