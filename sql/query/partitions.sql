-- What changes when a table below this one comes or goes, be it by ATTACH or DETACH.
-- $1 the table
WITH RECURSIVE below AS (
    SELECT $1::int8::oid AS oid, 0::int8 AS version
    UNION
    SELECT i.inhrelid, i.xmin::text::int8
    FROM below
    JOIN pg_inherits AS i ON i.inhparent = below.oid
)
SELECT concat(count(*), ' ', sum(hashtextextended(concat(b.oid, ' ', b.version), 0)))
FROM below AS b
