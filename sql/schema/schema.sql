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
DECLARE
    made pg_catalog.text[] := ARRAY[:state_text];
    other pg_catalog.text;
BEGIN
    BEGIN
        CREATE TYPE :state AS ENUM ('PLAN', 'TAKE', 'WORK', 'DONE', 'FAIL', 'GONE', 'STOP');
        COMMENT ON TYPE :state IS 'State of a task: waiting, taken, running, ended well, ended with an error, not worth running any more, stopped';
    EXCEPTION
        WHEN duplicate_object THEN NULL;
    END;
    :ours
END
$pgtaskd$;

-- Who may make functions beside ours could give one of the same name a further parameter with a
-- default, and no call would tell them apart. But nobody else may create a function that takes this
-- type. The constructors of a range over it take two, and have no defaults. Default privileges, or
-- a GRANT, may let others use it, so that is taken back, but for the role that serves and the
-- table's owner: by that our functions know them. A constraint that somebody has left there, who
-- owned it for a while, runs as whoever makes a value of it.
DO $pgtaskd$
DECLARE
    made pg_catalog.text[] := ARRAY[pg_catalog.concat(pg_catalog.quote_ident(:schema_text), '.pgtaskd_call_:hash')];
    other pg_catalog.text;
    change pg_catalog.text;
BEGIN
    BEGIN
        CREATE DOMAIN :schema.pgtaskd_call_:hash AS pg_catalog.text;
        COMMENT ON DOMAIN :schema.pgtaskd_call_:hash IS 'A parameter by which no function of others can be taken for one of pgtaskd';
    EXCEPTION
        WHEN duplicate_object THEN NULL;
    END;
    :ours
    FOR change IN
        WITH call AS (
            SELECT t.oid, t.typowner AS maker, coalesce(t.typacl, pg_catalog.acldefault('T', t.typowner)) AS rights, (
                SELECT c.relowner
                FROM pg_catalog.pg_class AS c
                WHERE c.relnamespace OPERATOR(pg_catalog.=) n.oid
                    AND c.relkind OPERATOR(pg_catalog.=) ANY ('{r,p}')
                    AND pg_catalog.left(pg_catalog.encode(pg_catalog.sha256(pg_catalog.convert_to(pg_catalog.concat('"', pg_catalog.replace(n.nspname, '"', '""'), '"."',
                        pg_catalog.replace(c.relname, '"', '""'), '"'), 'UTF8')), 'hex'), 16) OPERATOR(pg_catalog.=) ':hash'
            ) AS owner
            FROM pg_catalog.pg_type AS t
            JOIN pg_catalog.pg_namespace AS n ON n.oid OPERATOR(pg_catalog.=) t.typnamespace
            WHERE n.nspname OPERATOR(pg_catalog.=) :schema_text::pg_catalog.name
                AND t.typname OPERATOR(pg_catalog.=) 'pgtaskd_call_:hash'
        )
        SELECT pg_catalog.format('REVOKE ALL ON DOMAIN %s FROM %s CASCADE', c.oid::pg_catalog.regtype, CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END)
        FROM call AS c
        CROSS JOIN LATERAL pg_catalog.aclexplode(c.rights) AS g
        LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) g.grantee
        WHERE g.grantee OPERATOR(pg_catalog.<>) c.maker
            AND (g.grantee OPERATOR(pg_catalog.=) c.owner) IS NOT TRUE
            AND (r.rolname OPERATOR(pg_catalog.=) :serving) IS NOT TRUE
        GROUP BY c.oid, r.oid, r.rolname
        UNION ALL
        SELECT pg_catalog.format('GRANT USAGE ON DOMAIN %s TO %I', c.oid::pg_catalog.regtype, o.rolname)
        FROM call AS c
        JOIN pg_catalog.pg_roles AS o ON o.oid OPERATOR(pg_catalog.=) c.owner AND NOT o.rolsuper
        WHERE c.owner OPERATOR(pg_catalog.<>) c.maker
            AND NOT EXISTS (SELECT FROM pg_catalog.aclexplode(c.rights) AS g WHERE g.grantee OPERATOR(pg_catalog.=) c.owner)
        UNION ALL
        SELECT pg_catalog.format('ALTER DOMAIN %s DROP CONSTRAINT %I', c.oid::pg_catalog.regtype, k.conname)
        FROM call AS c
        JOIN pg_catalog.pg_constraint AS k ON k.contypid OPERATOR(pg_catalog.=) c.oid
    LOOP
        EXECUTE change;
    END LOOP;
END
$pgtaskd$;
