-- How many tasks outside of chains have not ended, and how many chains have not gone on.
-- $1 since when nothing breaks any more
SELECT (SELECT count(*) FROM task WHERE NOT chain AND state IN ('PLAN', 'TAKE', 'WORK')) + (
        SELECT count(DISTINCT "group") FROM task AS t
        WHERE chain AND NOT EXISTS (SELECT FROM task AS u WHERE u."group" = t."group" AND u.chain AND u.state = 'DONE' AND u.start > $1)
    )
