-- The same as ledger.sql for one row, at a third of the price, if somebody waits for one row alone. A
-- row that shows a lock of somebody else's is passed over.
-- $1 to $11 as there, of one
UPDATE :table AS t
SET
    :entered
FROM (
    SELECT
        $1::int8 AS id,
        $2::text AS what,
        $3::int4 AS version,
        $4::int4 AS pid,
        $5::timestamptz AS start,
        $6::timestamptz AS stop,
        $7::text AS output,
        $8::text AS notice,
        $9::bool AS atomic,
        $10::int8 AS xact
) AS e
CROSS JOIN (SELECT $11::text AS place) AS here
WHERE t.ctid = ANY (ARRAY( -- by the index of id, whatever the statistics say
        SELECT r.ctid
        FROM :table AS r
        WHERE r.id BETWEEN $1 AND $1
        ORDER BY r.id
    ))
    AND t.id IS NOT DISTINCT FROM e.id
    AND (t.xmax = 0 OR t.xmax = t.xmin) -- triggers have it show the lock of who has written it
    AND :takes
RETURNING
    :entry_of_t
