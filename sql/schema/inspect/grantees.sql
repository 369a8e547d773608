-- Who has been given REFERENCES on the table or one below it, or on columns, and is not to be trusted: the
-- check of a foreign key runs as the owner of the table it refers to, and so does a cast of the
-- column that refers.
-- $1 the table, $2 those who are trusted
WITH RECURSIVE below AS (
    SELECT $1::pg_catalog.int8::pg_catalog.oid AS oid
    UNION
    SELECT i.inhrelid
    FROM below
    JOIN pg_catalog.pg_inherits AS i ON i.inhparent OPERATOR(pg_catalog.=) below.oid
)
SELECT DISTINCT
    CASE WHEN x.grantee OPERATOR(pg_catalog.=) 0 THEN 'PUBLIC' ELSE :readable(pg_catalog.quote_ident(pg_catalog.pg_get_userbyid(x.grantee))) END
FROM (
    SELECT g.grantee, g.privilege_type
    FROM below
    JOIN pg_catalog.pg_class AS c ON c.oid OPERATOR(pg_catalog.=) below.oid
    CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS g
    UNION ALL
    SELECT g.grantee, g.privilege_type
    FROM below
    JOIN pg_catalog.pg_attribute AS a ON a.attrelid OPERATOR(pg_catalog.=) below.oid
    CROSS JOIN LATERAL pg_catalog.aclexplode(a.attacl) AS g
) AS x
WHERE x.privilege_type OPERATOR(pg_catalog.=) 'REFERENCES'
    AND NOT x.grantee::pg_catalog.int8 OPERATOR(pg_catalog.=) ANY ($2::pg_catalog.int8[])
ORDER BY 1
