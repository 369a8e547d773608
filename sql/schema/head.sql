-- Refuses to go on where the schema, or something in it with a name of ours, belongs to somebody
-- who is neither trusted nor who runs this, the owner of the table or of the database, nor a
-- superuser; and where such a role may create something there.
DO $pgtaskd$
DECLARE
    ours text[] := :relations;
    stranger record;
BEGIN
    FOR stranger IN
        SELECT concat(x.thing, ' ', coalesce(r.rolname, 'PUBLIC')) AS said, x.role
        FROM pg_namespace AS n
        CROSS JOIN LATERAL (
            SELECT 'the schema belongs to role' AS thing, n.nspowner AS role
            UNION ALL
            SELECT format('%I belongs to role', c.relname), c.relowner FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relname = ANY (ours)
            UNION ALL
            SELECT format('function %I belongs to role', p.proname), p.proowner FROM pg_proc AS p WHERE p.pronamespace = n.oid AND (starts_with(p.proname, 'pgtaskd_') OR p.proname = ANY (ours))
            UNION ALL
            SELECT 'tables and functions may be created in the schema by', a.grantee FROM aclexplode(n.nspacl) AS a WHERE a.privilege_type = 'CREATE'
        ) AS x
        LEFT JOIN pg_roles AS r ON r.oid = x.role
        WHERE n.nspname = :schema_text AND NOT coalesce(r.rolsuper OR r.rolname IN (current_user, 'pg_database_owner', :trusted)
            OR r.oid = (SELECT d.datdba FROM pg_database AS d WHERE d.datname = current_database())
            OR r.oid = (SELECT c.relowner FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relname = :name_text), false)
        ORDER BY x.role = 0 DESC
    LOOP
        IF stranger.role = 0 THEN
            RAISE WARNING '%', stranger.said;
        ELSE
            RAISE EXCEPTION '%', stranger.said USING HINT = 'The table would not be served: docs/security.md says whom pgtaskd trusts.';
        END IF;
    END LOOP;
    IF to_regnamespace(:schema_quoted) IS NULL THEN
        CREATE SCHEMA :schema;
    END IF;
    IF to_regtype(:state_text) IS NULL THEN
        CREATE TYPE :state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP');
    END IF;
END
$pgtaskd$;
