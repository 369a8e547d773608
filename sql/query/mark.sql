-- Shows tasks as running. Each must still be taken by the controller that says so.
-- $1 ids, $2 pids of the controllers that took them, $3 pids of the sessions, $4 starts, $5 whether effects and end commit together
WITH begun AS MATERIALIZED (
    SELECT b.*, t.part, t.place
    FROM (
        SELECT *
        FROM ROWS FROM (
            pg_catalog.unnest($1::pg_catalog.int8[]),
            pg_catalog.unnest($2::pg_catalog.int4[]),
            pg_catalog.unnest($3::pg_catalog.int4[]),
            pg_catalog.unnest($4::pg_catalog.timestamptz[]),
            pg_catalog.unnest($5::pg_catalog.bool[])
        ) AS u (id, owner, pid, start, atomic)
        ORDER BY u.id
    ) AS b
    CROSS JOIN LATERAL ( -- looked up one by one, whatever the statistics say
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id OPERATOR(pg_catalog.>=) b.id
            AND t.id OPERATOR(pg_catalog.<=) b.id
            AND (
                t.state OPERATOR(pg_catalog.=) 'TAKE' AND t.pid OPERATOR(pg_catalog.=) b.owner
                OR t.state OPERATOR(pg_catalog.=) 'WORK' AND t.pid OPERATOR(pg_catalog.=) b.pid
            )
        ORDER BY t.id
        FOR NO KEY UPDATE SKIP LOCKED
    ) AS t
)
UPDATE :table AS t
SET
    state = 'WORK',
    pid = b.pid,
    start = b.start,
    atomic = b.atomic
FROM begun AS b
WHERE t.ctid OPERATOR(pg_catalog.=) b.place
    AND t.tableoid OPERATOR(pg_catalog.=) b.part
RETURNING t.id OPERATOR(pg_catalog./) (t.state OPERATOR(pg_catalog.<>) 'TAKE')::pg_catalog.int4 -- an error where a trigger has kept the row as it was
