-- The sessions that the leader has opened: the next leader recognises them by it, since anybody can
-- name a session like one of them. It is not logged, because a crash ends all of them. Its name is
-- made like those of the functions: it fits whatever the table's name is, and no application has a
-- table of that name. Default privileges may give a new table to others: who may write here could
-- have sessions of the role ended, so they are revoked. So may a dump, where it is restored: it brings
-- another number of the table than the comment has, and rows that others may have written.

SET LOCAL pgtaskd.register = :register;
DO $pgtaskd$
DECLARE
    relation pg_catalog.text := pg_catalog.current_setting('pgtaskd.register');
    revoke pg_catalog.text;
    number pg_catalog.oid := pg_catalog.to_regclass(relation)::pg_catalog.oid;
    here pg_catalog.text;
    made pg_catalog.text[] := ARRAY[relation];
    other pg_catalog.text;
BEGIN
    :here
    IF number IS NULL THEN
        EXECUTE pg_catalog.format('CREATE UNLOGGED TABLE %s (pid pg_catalog.int4, started pg_catalog.timestamptz, PRIMARY KEY (pid, started))', relation);
        EXECUTE pg_catalog.format('COMMENT ON COLUMN %s.pid IS %L', relation, 'Process id of the backend');
        EXECUTE pg_catalog.format('COMMENT ON COLUMN %s.started IS %L', relation, 'Its backend_start in pg_stat_activity: with pid it names one for good');
        number := pg_catalog.to_regclass(relation)::pg_catalog.oid;
    END IF;
    :ours
    IF
        :sealed
    THEN
        RETURN;
    END IF;
    :private
    :unwatched
    -- Rows of what an earlier version has made are those of a leader that may still live.
    IF NOT EXISTS (
        SELECT
        FROM pg_catalog.pg_description AS d
        WHERE d.objoid OPERATOR(pg_catalog.=) number
            AND d.classoid OPERATOR(pg_catalog.=) 'pg_catalog.pg_class'::pg_catalog.regclass::pg_catalog.oid
            AND d.objsubid OPERATOR(pg_catalog.=) 0
            AND d.description OPERATOR(pg_catalog.~) '[(]pgtaskd schema [0-9]+[)]$'
    ) THEN
        EXECUTE pg_catalog.format('TRUNCATE ONLY %s', relation); -- which runs no rule, policy or row's trigger
    END IF;
    EXECUTE pg_catalog.format('COMMENT ON TABLE %s IS %L', relation,
        pg_catalog.concat('Sessions that the leader has opened, by which the next one recognises them (:version)', here, number));
END
$pgtaskd$;
