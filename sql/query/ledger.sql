-- One round of the ledger, which makes most changes of rows: marks, preparations, and the ends of
-- tasks that ran well and that nothing follows. Other statements look at the rows that it skips. So
-- it may find a row by its ctid, although it misses a row that somebody has just changed.
-- $1 ids, $2 kinds: m a mark, p a preparation, c a preparation before the SQL has begun, d DONE, s
-- DONE of a prepared row that has its texts; $3 versions of the rows that were read, $4 pids of the
-- sessions, $5 starts, $6 stops, $7 outputs, $8 notices, $9 whether effects happen exactly once,
-- $10 transactions, $11 their places, as in xact_at, $12 when the sessions began, if they must still
-- be there
WITH told AS MATERIALIZED (
    SELECT e.*, t.part, t.place
    FROM (
        SELECT *
        FROM ROWS FROM (
            unnest($1::int8[]),
            unnest($2::text[]),
            unnest($3::int4[]),
            unnest($4::int4[]),
            unnest($5::timestamptz[]),
            unnest($6::timestamptz[]),
            unnest($7::text[]),
            unnest($8::text[]),
            unnest($9::bool[]),
            unnest($10::int8[]),
            unnest($11::text[]),
            unnest($12::timestamptz[])
        ) AS u (id, what, version, pid, start, stop, output, notice, atomic, xact, xact_at, since)
        ORDER BY u.id
    ) AS e
    CROSS JOIN LATERAL ( -- one lookup for each, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id BETWEEN e.id AND e.id
            AND :takes
            AND (
                e.since IS NULL
                OR EXISTS ( -- after a crash, or on a standby, another transaction may get the number
                    SELECT
                    FROM pg_stat_get_activity(e.pid) AS a
                    WHERE (a.backend_start = e.since) IS NOT FALSE -- NULL: the session has another role
                )
            )
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    :entered
FROM told AS e
WHERE t.ctid = e.place
    AND t.tableoid = e.part
RETURNING
    :entry_of_t
