-- Stops an act on many tasks. Returns whether it has gone on until now.
-- $1 id, $2 who stops it
WITH before AS (
    SELECT a.id, a.ended
    FROM :its_act AS a
    WHERE a.id = $1::int8
    FOR UPDATE
), stopped AS (
    UPDATE :its_act AS a
    SET stopped = $2::text, ended = clock_timestamp()
    FROM before AS b
    WHERE a.id = b.id
        AND b.ended IS NULL
)
SELECT b.ended IS NULL
FROM before AS b
