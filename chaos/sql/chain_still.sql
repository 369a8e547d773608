-- $1 since when nothing breaks any more
SELECT format('no run of %s since %s', "group", $1::timestamptz)
FROM task
WHERE chain
GROUP BY "group"
HAVING count(*) FILTER (WHERE state = 'DONE' AND start > $1) = 0
