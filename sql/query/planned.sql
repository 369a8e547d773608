-- Plans tasks for the next beats of their cron expressions, and returns them. Each row must still
-- be as it was read. A task whose expression cannot be read FAILs. A repetition without a beat
-- before its until is deleted; if it is the only row with its id, next no longer points to it.
-- If the new plan moves a row to another partition, the server inserts it there; that row has a
-- plan, so the next look leaves it as it is.
-- $1 ids, $2 versions of the rows that were read, $3 plans (NULL: there is none), $4 skipped beats,
-- $5 errors, $6 whether to write no texts
WITH found AS MATERIALIZED (
    SELECT b.id, b.plan, b.skipped, t.part, t.place, b.error
    FROM (
        SELECT *
        FROM ROWS FROM (
            unnest($1::int8[]),
            unnest($2::int4[]),
            unnest($3::timestamptz[]),
            unnest($4::int4[]),
            unnest($5::text[])
        ) AS u (id, version, plan, skipped, error)
        ORDER BY u.id
    ) AS b
    CROSS JOIN LATERAL (
        SELECT t.tableoid AS part, t.ctid AS place
        FROM :table AS t
        WHERE t.id BETWEEN b.id AND b.id
            AND t.state = 'PLAN'
            AND t.xmin = b.version
        ORDER BY t.id
        FOR UPDATE SKIP LOCKED
    ) AS t
),
past AS (
    SELECT f.part, f.place
    FROM found AS f
    WHERE f.plan IS NULL
        AND f.error IS NULL
),
over AS (
    DELETE FROM :table AS t
    USING past AS p
    WHERE t.ctid = p.place
        AND t.tableoid = p.part
    RETURNING t.id, t.parent
),
last AS (
    UPDATE :table AS t
    SET next = NULL
    FROM (
        SELECT p.part, p.place
        FROM over AS o
        CROSS JOIN LATERAL (
            SELECT p.tableoid AS part, p.ctid AS place
            FROM :table AS p
            WHERE p.id BETWEEN o.parent AND o.parent
                AND p.next = o.id
                AND 1 = (
                    SELECT count(*)
                    FROM (
                        SELECT
                        FROM :table AS n
                        WHERE n.id BETWEEN o.id AND o.id
                        ORDER BY n.id
                    ) AS n
                )
            ORDER BY p.id
        ) AS p
    ) AS p
    WHERE t.ctid = p.place
        AND t.tableoid = p.part
)
UPDATE :table AS t
SET
    origin = NULL,
    base = NULL,
    plan = coalesce(f.plan, t.plan),
    skipped = CASE WHEN f.error IS NULL THEN f.skipped ELSE t.skipped END,
    state = CASE WHEN f.error IS NULL THEN 'PLAN' WHEN true THEN 'FAIL' ELSE t.state END,
    start = CASE WHEN f.error IS NOT NULL THEN statement_timestamp() ELSE t.start END,
    stop = CASE WHEN f.error IS NOT NULL THEN statement_timestamp() ELSE t.stop END,
    error = CASE WHEN f.error IS NOT NULL AND NOT $6::bool THEN f.error ELSE t.error END,
    sqlstate = CASE WHEN f.error IS NOT NULL AND NOT $6 THEN '22023' ELSE t.sqlstate END
FROM found AS f
WHERE (f.plan IS NOT NULL OR f.error IS NOT NULL)
    AND t.ctid = f.place
    AND t.tableoid = f.part
RETURNING
    CASE WHEN t.origin IS NULL OR t.origin <= '-infinity' AND t.tableoid <> f.part THEN t.id END, -- NULL: a trigger has kept the row as it was
    :followed AND t.state = 'FAIL',
    :last_words
