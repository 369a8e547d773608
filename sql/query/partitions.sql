-- What changes when a table below this one comes or goes, be it by ATTACH or DETACH.
-- $1 the table
WITH RECURSIVE below AS (
    SELECT $1::pg_catalog.int8::pg_catalog.oid AS oid, 0::pg_catalog.int8 AS version
    UNION
    SELECT i.inhrelid, i.xmin::pg_catalog.text::pg_catalog.int8
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
)
SELECT pg_catalog.concat(pg_catalog.count(*), ' ', pg_catalog.sum(pg_catalog.hashtextextended(pg_catalog.concat(b.oid, ' ', b.version), 0)))
FROM below AS b
