-- Who has been given REFERENCES on the table or one below it, or on columns, and is not to be trusted: the
-- check of a foreign key runs as the owner of the table it refers to, and so does a cast of the
-- column that refers.
-- $1 the table, $2 those who are trusted
WITH RECURSIVE below AS (
    SELECT $1::int8::oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_inherits AS i ON i.inhparent = below.oid
)
SELECT DISTINCT
    CASE WHEN x.grantee = 0 THEN 'PUBLIC' ELSE :readable(quote_ident(pg_get_userbyid(x.grantee))) END
FROM (
    SELECT g.grantee, g.privilege_type
    FROM below
    JOIN pg_class AS c ON c.oid = below.oid
    CROSS JOIN LATERAL aclexplode(c.relacl) AS g
    UNION ALL
    SELECT g.grantee, g.privilege_type
    FROM below
    JOIN pg_attribute AS a ON a.attrelid = below.oid
    CROSS JOIN LATERAL aclexplode(a.attacl) AS g
) AS x
WHERE x.privilege_type = 'REFERENCES'
    AND NOT x.grantee::int8 = ANY ($2::int8[])
ORDER BY 1
