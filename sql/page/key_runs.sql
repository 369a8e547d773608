-- The runs of keys, among the newest rows of the table. Only the newest two of each show their
-- error.
-- $1 keys, $2 how many rows to look at, $3 most runs of each key
SELECT
    0::int8 AS head,
    r.key,
    r.id,
    r.start,
    r.stop,
    r.state::text AS state,
    CASE WHEN r.nth <= 2 THEN left(split_part(r.error, E'\n', 1), 1000) END AS error
FROM (
    SELECT n.key, n.id, n.start, n.stop, n.state, n.error, row_number() OVER (PARTITION BY n.key ORDER BY n.id DESC) AS nth
    FROM (
        SELECT t.key, t.id, t.start, t.stop, t.state, t.error
        FROM :table AS t
        ORDER BY t.id DESC
        LIMIT $2::int8
    ) AS n
    -- IS TRUE makes the server look up the keys by their hashes
    WHERE (n.start IS NOT NULL OR n.stop IS NOT NULL) AND (n.key IN (SELECT unnest($1::text[]))) IS TRUE
) AS r
WHERE r.nth <= $3::int8
