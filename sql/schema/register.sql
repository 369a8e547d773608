-- The sessions that the leader has opened: the next leader recognises them by it, since anybody can
-- name a session like one of them. It is not logged, because a crash ends all of them. Its name is
-- made like those of the functions: it fits whatever the table's name is, and no application has a
-- table of that name. Default privileges may give a new table to others: who may write here could
-- have sessions of the role ended, so they are revoked.

SET LOCAL pgtaskd.register = :register;
DO $pgtaskd$
DECLARE
    register pg_catalog.text := pg_catalog.current_setting('pgtaskd.register');
    other pg_catalog.text;
BEGIN
    IF pg_catalog.to_regclass(register) IS NOT NULL THEN
        RETURN;
    END IF;
    EXECUTE pg_catalog.format('CREATE UNLOGGED TABLE %s (pid pg_catalog.int4, started pg_catalog.timestamptz, PRIMARY KEY (pid, started))', register);
    EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', register, 'Sessions that the leader has opened, by which the next one recognises them (:version)');
    EXECUTE pg_catalog.format('COMMENT ON COLUMN %s.pid IS %L', register, 'Process id of the backend');
    EXECUTE pg_catalog.format('COMMENT ON COLUMN %s.started IS %L', register, 'Its backend_start in pg_stat_activity: with pid it names one for good');
    FOR other IN
        SELECT CASE WHEN r.oid IS NULL THEN 'PUBLIC' ELSE pg_catalog.quote_ident(r.rolname) END
        FROM pg_catalog.pg_class AS c
        CROSS JOIN LATERAL pg_catalog.aclexplode(c.relacl) AS g
        LEFT JOIN pg_catalog.pg_roles AS r ON r.oid OPERATOR(pg_catalog.=) g.grantee
        WHERE c.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(register)::pg_catalog.oid
            AND g.grantee OPERATOR(pg_catalog.<>) c.relowner
        GROUP BY r.oid, r.rolname
    LOOP
        EXECUTE pg_catalog.format('REVOKE ALL ON TABLE %s FROM %s', register, other);
    END LOOP;
END
$pgtaskd$;
