-- Ended tasks that have been kept long enough, on some pages of the table and of each of its
-- partitions. It reads whole pages: so the cost is the same whatever the statistics say, however
-- many rows are dead, and whether or not ids ascend.
-- $1 how long to keep tasks, $2 the first page, $3 how many
SELECT t.id
FROM :table AS t
WHERE :pages
    AND t.stop < (statement_timestamp() - :kept)
    AND :not_last
