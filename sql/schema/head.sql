-- Fails if the schema, or an object of one of our names in it, belongs to a role that is not trusted,
-- does not run this, owns neither table nor database, and is no superuser; if one like that may create
-- objects there; or if the table is an application's. A superuser goes on as the owner of table or
-- schema: its functions would run what others put there.
DO $$
DECLARE
    ours text[] := :relations;
    owner text;
    stranger text;
BEGIN
    SELECT r.rolname INTO owner
    FROM pg_namespace AS n
    JOIN pg_database AS d ON d.datname = current_database()
    LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = :name_text
    JOIN pg_roles AS r ON r.oid = coalesce(c.relowner, nullif(n.nspowner, to_regrole('pg_database_owner')::oid), d.datdba)
    WHERE n.nspname = :schema_text AND NOT r.rolsuper AND current_setting('is_superuser') = 'on';
    IF owner IS NOT NULL THEN EXECUTE format('SET LOCAL ROLE %I', owner); END IF;
    SELECT concat(x.thing, ' belongs to role ', coalesce(r.rolname, 'PUBLIC')) INTO stranger
    FROM pg_namespace AS n
    JOIN pg_database AS d ON d.datname = current_database()
    LEFT JOIN pg_class AS t ON t.relnamespace = n.oid AND t.relname = :name_text
    CROSS JOIN LATERAL (
        SELECT 'the schema' AS thing, n.nspowner AS role
        UNION ALL SELECT format('%I', c.relname), c.relowner FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relname = ANY (ours)
        UNION ALL SELECT format('type %I', t.typname), t.typowner FROM pg_type AS t WHERE t.oid = to_regtype(:state_text)::oid
        UNION ALL SELECT format('function %I', p.proname), p.proowner FROM pg_proc AS p
            WHERE p.pronamespace = n.oid AND (starts_with(p.proname, 'pgtaskd_') OR p.proname = ANY (ours))
        UNION ALL SELECT 'the right to create in the schema', grantee FROM aclexplode(n.nspacl) WHERE privilege_type = 'CREATE'
    ) AS x
    LEFT JOIN pg_roles AS r ON r.oid = x.role
    WHERE n.nspname = :schema_text AND NOT coalesce(r.rolsuper OR r.rolname IN (current_user, 'pg_database_owner', :trusted)
        OR r.oid IN (d.datdba, t.relowner)
        OR x.role = 0 AND (current_setting('is_superuser') = 'off' OR 'PUBLIC' IN (:trusted)), false)
    LIMIT 1;
    IF stranger IS NOT NULL THEN
        RAISE EXCEPTION '%', stranger USING HINT = 'REVOKE it, ALTER the owner, or run this as the role that is to serve the table; see docs/security.md.';
    END IF;
    IF to_regclass(:table_text) IS NOT NULL AND 2 > (SELECT count(*) FROM pg_attribute WHERE attrelid = to_regclass(:table_text) AND (attname = 'input' OR attname = 'id' AND atttypid IN (20, 23))) THEN
        RAISE EXCEPTION 'table % is no table of tasks: it has no column input, or no id of type int8', to_regclass(:table_text);
    END IF;
    IF to_regnamespace(:schema_quoted) IS NULL THEN CREATE SCHEMA :schema; END IF;
    IF to_regtype(:state_text) IS NULL THEN CREATE TYPE :state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP'); END IF;
END
$$;
