-- Ends the pause of one row in the table of groups. Returns whether that pause was in force, and
-- which rows still pause the group.
-- $1 group
WITH before AS (
    SELECT g."group", g.paused AND coalesce(g.until > statement_timestamp(), true) AS paused
    FROM :its_group AS g
    WHERE g."group" = $1::text
    FOR UPDATE
), changed AS (
    UPDATE :its_group AS g
    SET paused = false
    FROM before AS b
    WHERE g."group" = b."group"
        AND g.paused
    RETURNING b.paused
)
SELECT
    EXISTS (SELECT FROM changed AS c WHERE c.paused),
    ARRAY(
        SELECT g."group"
        FROM :its_group AS g
        WHERE g."group" <> $1::text
            AND g.paused
            AND coalesce(g.until > statement_timestamp(), true)
            AND right(g."group", 1) = '%'
            AND starts_with($1::text, left(g."group", -1))
        ORDER BY g."group"
    )
