-- Who serves the table: a row a controller. Default privileges may give a new table to others: who
-- may write here, or have a trigger here, could run code as the serving role, so they are revoked.
-- The columns that say nothing of the machine are for everybody, because :its_why reads them.
CREATE TABLE IF NOT EXISTS :its_leader (
    controller pg_catalog.text PRIMARY KEY,
    leads pg_catalog.bool NOT NULL,
    since pg_catalog.timestamptz NOT NULL,
    seen pg_catalog.timestamptz NOT NULL,
    host pg_catalog.text,
    pid pg_catalog.int4,
    version pg_catalog.text,
    run pg_catalog.int4,
    timezone pg_catalog.text
);
SET LOCAL pgtaskd.relation = :its_leader_text;
DO $body$
DECLARE
    relation pg_catalog.text := pg_catalog.current_setting('pgtaskd.relation');
    revoke pg_catalog.text;
    number pg_catalog.oid := pg_catalog.to_regclass(relation)::pg_catalog.oid;
    here pg_catalog.text;
    made pg_catalog.text[] := ARRAY[relation];
    other pg_catalog.text;
BEGIN
    :here
    :ours
    IF NOT
        :sealed
    THEN
    :private
    :unwatched
        EXECUTE pg_catalog.format('TRUNCATE ONLY %s', relation); -- rows of a dump, or of who had the right for a while
    END IF;
    EXECUTE pg_catalog.format('GRANT SELECT (leads, since, seen, run, timezone) ON TABLE %s TO PUBLIC', relation);
END
$body$;
COMMENT ON TABLE :its_leader IS 'Controllers that serve the table: one leads, the others stand by (:made)';
COMMENT ON COLUMN :its_leader.controller IS 'The process: host, process id and start';
COMMENT ON COLUMN :its_leader.leads IS 'true: it leads; false: it stands by, or has drained';
COMMENT ON COLUMN :its_leader.since IS 'Since when it does';
COMMENT ON COLUMN :its_leader.seen IS 'When it last wrote this row, which it does each minute';
COMMENT ON COLUMN :its_leader.host IS 'Its machine';
COMMENT ON COLUMN :its_leader.pid IS 'Its process id there';
COMMENT ON COLUMN :its_leader.version IS 'Its version';
COMMENT ON COLUMN :its_leader.run IS 'Most tasks that it runs at once';
COMMENT ON COLUMN :its_leader.timezone IS 'Time zone of its calendar arithmetic';
