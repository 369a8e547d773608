-- The schema, and in it the type of a task's state. Where this name is taken by somebody's own
-- type, another is chosen. Then what our functions take that have parameters.

DO $pgtaskd$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_namespace AS n WHERE n.nspname OPERATOR(pg_catalog.=) :schema_text::pg_catalog.name) THEN
        CREATE SCHEMA IF NOT EXISTS :schema; -- that asks for the right first
    END IF;
END
$pgtaskd$;

DO $pgtaskd$
BEGIN
    CREATE TYPE :state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP');
    COMMENT ON TYPE :state IS 'State of a task: waiting, taken, running, ended well, ended with an error, not worth running any more, stopped';
EXCEPTION
    WHEN duplicate_object THEN NULL;
END
$pgtaskd$;

-- Who may make functions beside ours could give one of the same name a further parameter with a
-- default, and no call would tell them apart. But nobody else may create a function that takes this
-- type. The constructors of a range over it take two, and have no defaults. Default privileges, or
-- a GRANT, may let others use it, so that is taken back, but for the role that serves.
DO $pgtaskd$
DECLARE
    revoke pg_catalog.text;
BEGIN
    BEGIN
        CREATE DOMAIN :schema.pgtaskd_call_:hash AS pg_catalog.text;
        COMMENT ON DOMAIN :schema.pgtaskd_call_:hash IS 'A parameter by which no function of others can be taken for one of pgtaskd';
    EXCEPTION
        WHEN duplicate_object THEN NULL;
    END;
    FOR revoke IN
        SELECT pg_catalog.format('REVOKE ALL ON DOMAIN %s FROM %s CASCADE', t.oid::pg_catalog.regtype, CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END)
        FROM pg_catalog.pg_type AS t
        JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
        CROSS JOIN LATERAL pg_catalog.aclexplode(coalesce(t.typacl, pg_catalog.acldefault('T', t.typowner))) AS g
        LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) g.grantee
        WHERE n.nspname OPERATOR(pg_catalog.=) :schema_text::pg_catalog.name
            AND t.typname OPERATOR(pg_catalog.=) 'pgtaskd_call_:hash'
            AND g.grantee OPERATOR(pg_catalog.<>) t.typowner
            AND (r.rolname OPERATOR(pg_catalog.=) :serving) IS NOT TRUE
        GROUP BY t.oid, r.oid, r.rolname
    LOOP
        EXECUTE revoke;
    END LOOP;
END
$pgtaskd$;
