-- The acts that go on, the oldest first.
SELECT a.id
FROM :its_act AS a
WHERE a.ended IS NULL
ORDER BY a.id
LIMIT 100
