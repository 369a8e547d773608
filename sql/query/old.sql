-- Ended tasks that are older than they are kept, on some pages of the table and of each of its
-- partitions. A page is read whole: so a look costs the same whatever statistics say, how many rows
-- are dead, and whether ids ascend.
-- $1 how long they are kept, $2 the first page, $3 how many
SELECT t.id
FROM :table AS t
WHERE :pages
    AND t.stop < (statement_timestamp() - :kept)
    AND :not_last
