-- The ends of tasks that were prepared and whose end nobody could write: DONE where the server says
-- that their transaction is committed; FAIL where it does not know, which is not tried again. Others
-- are left to cut.sql, or wait until it does know.
-- $1 ids, $2 where we are, as xact_at says, $3 whether to say nothing
WITH judged AS MATERIALIZED (
    SELECT t.part, t.place, t.status
    FROM unnest($1::int8[]) AS l (id)
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place, s.status
        FROM :table AS t
        CROSS JOIN (SELECT $2::text AS here) AS x
        CROSS JOIN LATERAL (SELECT :xact_status AS status) AS s
        WHERE t.id >= l.id
            AND t.id <= l.id
            AND t.state = 'WORK'
            AND :xact_of_t IS NOT NULL
            AND (s.status = 'committed' OR s.status IS NULL)
        ORDER BY t.id
        FOR NO KEY UPDATE OF t SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = CASE WHEN j.status IS NOT NULL THEN 'DONE' WHEN true THEN 'FAIL' ELSE t.state END,
    stop = coalesce(t.stop, statement_timestamp()), -- as it was prepared
    error = CASE WHEN j.status IS NULL THEN CASE WHEN $3::bool THEN t.error ELSE E'ERROR:  it is not known whether the task''s transaction was committed\n'
        'DETAIL:  The server has no record of the transaction with which its row was prepared.\n'
        'HINT:  Look whether it has done its work; if not, set its state to PLAN.' END END,
    sqlstate = CASE WHEN j.status IS NULL THEN CASE WHEN $3 THEN t.sqlstate ELSE 'TK003' END END,
    :without_xact
    stopping = CASE WHEN :followed THEN t.stopping END
FROM judged AS j
WHERE t.ctid = j.place
    AND t.tableoid = j.part
RETURNING
    CASE WHEN t.state <> 'WORK' THEN t.id END, -- NULL: a trigger has kept the row as it was
    :followed,
    :last_words
