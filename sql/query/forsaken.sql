-- Gives up tasks that wait for others which did not end well, or in a cycle: not those whose cycle
-- leads by way of another row that has the id of one that is gone.
-- $1 ids, $2 why; $3 what each must still wait for, or $4 the version of the row that was read, by
-- which it still names what did not end well; $5 whether to say nothing
WITH forsaken AS MATERIALIZED (
    SELECT l.error, t.part, t.place
    FROM (
        SELECT *
        FROM ROWS FROM (
            pg_catalog.unnest($1::pg_catalog.int8[]),
            pg_catalog.unnest($2::pg_catalog.text[]),
            pg_catalog.unnest($3::pg_catalog.int8[]),
            pg_catalog.unnest($4::pg_catalog.int4[])
        ) AS u (id, error, awaits, version)
        ORDER BY u.id
    ) AS l
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) l.id
            AND t.id OPERATOR(pg_catalog.<=) l.id
            AND t.after IS NOT NULL
            AND (t.freed IS NULL OR t.awaits IS NOT NULL)
            AND (t.state OPERATOR(pg_catalog.=) 'PLAN' OR t.state OPERATOR(pg_catalog.=) 'STOP' AND t.stop IS NULL AND t.stopping IS NULL)
            AND (t.xmin OPERATOR(pg_catalog.=) l.version OR t.awaits OPERATOR(pg_catalog.=) l.awaits AND t.awaited OPERATOR(pg_catalog.=) ANY (ARRAY(
                SELECT coalesce(p.created, '-infinity')
                FROM :table AS p
                WHERE p.id OPERATOR(pg_catalog.>=) l.awaits
                    AND p.id OPERATOR(pg_catalog.<=) l.awaits
                ORDER BY p.id
            )))
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = 'GONE',
    start = pg_catalog.statement_timestamp(),
    stop = pg_catalog.statement_timestamp(),
    awaits = NULL,
    freed = NULL,
    error = CASE WHEN $5::pg_catalog.bool THEN t.error ELSE f.error END
FROM forsaken AS f
WHERE t.ctid OPERATOR(pg_catalog.=) f.place
    AND t.tableoid OPERATOR(pg_catalog.=) f.part
RETURNING
    t.id OPERATOR(pg_catalog./) (t.state OPERATOR(pg_catalog.=) 'GONE')::pg_catalog.int4, -- an error where a trigger has kept the row as it was
    :followed,
    :last_words
