-- One long text of a task when it starts: its input or its data; NULL if it is longer than allowed.
-- The row must be the one that was read: by now another row may have the id, or several in a
-- partitioned table.
-- $1 id, $2 version of the row that was read, $3 pid of the session, $4 whether to return data, $5
-- longest text to return, in bytes
SELECT CASE WHEN octet_length(x.text) <= $5::int8 THEN x.text END
FROM :table AS t
CROSS JOIN (SELECT $2::int4 AS version, $3::int4 AS pid) AS e
CROSS JOIN LATERAL (SELECT CASE WHEN $4::bool THEN coalesce(t.data, '') ELSE t.input END AS text) AS x
WHERE t.id BETWEEN $1::int8 AND $1::int8
    AND :as_read
ORDER BY t.id
