-- Tables that refer to this one, or to one below it, by a foreign key, and whose owner there is no
-- reason to trust: no row is deleted then (unreferenced.sql).
-- $1 the table, $2 those who are trusted
WITH RECURSIVE below AS (
    SELECT $1::int8::oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_inherits AS i ON i.inhparent = below.oid
)
SELECT DISTINCT
    :readable(format('%I.%I', n.nspname, r.relname)),
    :readable(quote_ident(pg_get_userbyid(r.relowner)))
FROM pg_constraint AS k
JOIN pg_class AS r ON r.oid = k.conrelid
JOIN pg_namespace AS n ON n.oid = r.relnamespace
WHERE k.contype = 'f'
    AND EXISTS (SELECT FROM below WHERE below.oid = k.confrelid)
    AND NOT r.relowner::int8 = ANY ($2::int8[])
ORDER BY 1
