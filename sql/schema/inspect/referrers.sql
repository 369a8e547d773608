-- Tables that refer to this one, or to one below it, by a foreign key, and whose owner there is no
-- reason to trust: no row is deleted then (unreferenced.sql).
-- $1 the table, $2 those who are trusted
WITH RECURSIVE below AS (
    SELECT $1::pg_catalog.int8::pg_catalog.oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
)
SELECT DISTINCT
    :readable(pg_catalog.format('%I.%I', n.nspname, r.relname)),
    :readable(pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(r.relowner)))
FROM pg_catalog.pg_constraint AS k
JOIN pg_catalog.pg_class AS r ON r.oid OPERATOR(pg_catalog.=) k.conrelid
JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) r.relnamespace
WHERE k.contype OPERATOR(pg_catalog.=) 'f'
    AND EXISTS (SELECT FROM below WHERE below.oid OPERATOR(pg_catalog.=) k.confrelid)
    AND NOT r.relowner::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.int8[])
ORDER BY 1
