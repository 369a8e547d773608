-- Whether nobody else has a right to the table of tokens c but to read it, which tells the hashes of
-- what nobody can guess, or a trigger there.
NOT EXISTS (SELECT FROM pg_catalog.aclexplode(c.relacl) AS x WHERE x.grantee OPERATOR(pg_catalog.<>) c.relowner AND x.privilege_type OPERATOR(pg_catalog.<>) 'SELECT')
AND NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_attribute AS a
    CROSS JOIN LATERAL pg_catalog.aclexplode(a.attacl) AS x
    WHERE a.attrelid OPERATOR(pg_catalog.=) c.oid AND x.grantee OPERATOR(pg_catalog.<>) c.relowner AND x.privilege_type OPERATOR(pg_catalog.<>) 'SELECT'
)
AND NOT EXISTS (
    SELECT
    FROM pg_catalog.pg_trigger AS x
    WHERE x.tgrelid OPERATOR(pg_catalog.=) c.oid AND x.tgname OPERATOR(pg_catalog.<>) 'pgtaskd_token'
)
