-- Whether the role may make the table of acts, and the statement that its owner has to run else.
-- $1 schema
SELECT has_schema_privilege(n.oid, 'CREATE'), quote_ident(current_user)
FROM pg_namespace AS n
WHERE n.nspname = $1::text
